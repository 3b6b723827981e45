/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The types of the card in a QEMU that is built with them; it takes the place
 * of plugin.c there, whose guard against a wrong QEMU has nothing to guard.
 */
#include "qemu/osdep.h"
#include "qemu/module.h"
#include "hw/zdrive/card/card.h"

static void zdrive_register_types(void)
{
    type_register_static(&zd_ssd_type_info);
    type_register_static(&zd_card_type_info);
}

type_init(zdrive_register_types)
