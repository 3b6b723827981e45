/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of catalog/ share: the profiles and parameters that the
 * product table in catalog.c refers to.  One file each.
 */
#ifndef ZDRIVE_CATALOG_INTERNAL_H
#define ZDRIVE_CATALOG_INTERNAL_H

#include "hw/zdrive/catalog.h"

extern const ZdSmartAttr zd_smart_sf2000[];
extern const ZdLogEntry zd_logs_sf2000[];
extern const ZdSsdProfile zd_profile_revo350;
extern const ZdSsdProfile zd_profile_sf1222;
extern const ZdSsdProfile zd_profile_sf2281;
extern const ZdSsdProfile zd_profile_sf2282;
extern const ZdSsdProfile zd_profile_sf2582;

extern const ZdFlashNand zd_nand_imft34;
extern const ZdFlashNand zd_nand_l74a_async;
extern const ZdFlashNand zd_nand_l74a_sync;
extern const ZdFlashNand zd_nand_toshiba19;

extern const ZdFlashParams zd_flash_revo350;
extern const ZdFlashParams zd_flash_sf1222;
extern const ZdFlashParams zd_flash_sf2281;
extern const ZdFlashParams zd_flash_sf2282;
extern const ZdFlashParams zd_flash_sf2582;

extern const ZdFlashCardParams zd_card_revodrive;
extern const ZdFlashCardParams zd_card_revodrive350;
extern const ZdFlashCardParams zd_card_revodrive3;
extern const ZdFlashCardParams zd_card_revodrive3_x2;
extern const ZdFlashCardParams zd_card_revodrive_x2;
extern const ZdFlashCardParams zd_card_zdrive_r4;

/* SMART attribute flags, in the order in which smartctl prints "POSRCK". */
enum {
    ZD_SMART_P = 1 << 0,        /* pre-failure */
    ZD_SMART_O = 1 << 1,        /* updated on line */
    ZD_SMART_S = 1 << 2,        /* speed */
    ZD_SMART_R = 1 << 3,        /* error rate */
    ZD_SMART_C = 1 << 4,        /* event count */
    ZD_SMART_K = 1 << 5,        /* kept automatically */
};

#define ZD_SMART_POSR   (ZD_SMART_P | ZD_SMART_O | ZD_SMART_S | ZD_SMART_R)
#define ZD_SMART_POC    (ZD_SMART_P | ZD_SMART_O | ZD_SMART_C)
#define ZD_SMART_POCK   (ZD_SMART_POC | ZD_SMART_K)
#define ZD_SMART_OCK    (ZD_SMART_O | ZD_SMART_C | ZD_SMART_K)
#define ZD_SMART_OK     (ZD_SMART_O | ZD_SMART_K)
#define ZD_SMART_CK     (ZD_SMART_C | ZD_SMART_K)
#define ZD_SMART_SRC    (ZD_SMART_S | ZD_SMART_R | ZD_SMART_C)

#endif
