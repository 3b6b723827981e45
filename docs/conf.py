# SPDX-License-Identifier: GPL-2.0-or-later
"""How Sphinx makes these pages; tests/docs/build.py runs it."""

project = "qemu-zdrive"
copyright = "the qemu-zdrive maintainers, GPL-2.0-or-later"

root_doc = "index"
exclude_patterns = []
highlight_language = "none"
nitpicky = True

html_theme = "alabaster"
html_theme_options = {
    "description": "OCZ Z-Drive R4 cards for the QEMU that Debian ships",
    "fixed_sidebar": True,
    "page_width": "72rem",
}
html_copy_source = False
html_show_sphinx = False
