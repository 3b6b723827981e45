# SPDX-License-Identifier: GPL-2.0-or-later
"""Plots of the model."""


def main(folder, run):
    """Placeholder."""
