# SPDX-License-Identifier: LGPL-2.1-or-later
"""The laboratory: scenarios, what runs them, what is made of the numbers."""
