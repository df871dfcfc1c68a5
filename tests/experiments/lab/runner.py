# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the runners have in common."""


class Unavailable(Exception):
    """Why a runner cannot run here, and what to do about it."""
