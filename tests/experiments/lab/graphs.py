# SPDX-License-Identifier: LGPL-2.1-or-later
"""The gst-launch lines of a bundle."""


def bundle(net, name, out):
    """[(t_s, host, command line)]: far mixer, near mixer, talkers."""
    return []
