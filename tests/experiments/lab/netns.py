# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runner `netns`: the real pipelines in real time (to come)."""
from lab import uml


def check(build):
    raise uml.Unavailable('the real-time runner is not there yet')


def prepare(run, folder, build):
    raise NotImplementedError


def finish(folder):
    return None


def versions():
    return {}
