# SPDX-License-Identifier: GPL-2.0-or-later
#
# The devices of a QEMU that is made for nothing but to fuzz the card.
CONFIG_I440FX=y
CONFIG_Q35=y
CONFIG_PCIE_PORT=y
CONFIG_ZDRIVE=y
