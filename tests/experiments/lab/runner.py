# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the runners have in common."""
import sys

SKIPPED = 77                    # for meson


class Unavailable(Exception):
    """Why a runner cannot run here, and what to do about it."""


def build_to_test(check):
    """BUILD of the command line; where `check` says that the runner cannot
    run there, the test ends as skipped."""
    build = sys.argv.pop(1)
    try:
        check(build)
    except Unavailable as e:
        print(f'skipped: {e}')
        sys.exit(SKIPPED)
    return build
