# SPDX-License-Identifier: GPL-2.0-or-later
"""The modules behind scripts/zdrive: Python standard library only."""
