/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the flash model counts, as a part of the property "stats".  The model
 * knows no QEMU and says it as JSON text; here it becomes QEMU's objects.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/qmp/qjson.h"
#include "qapi/qmp/qobject.h"
#include "qapi/visitor.h"
#include "internal.h"

void zd_media_visit_stats(Visitor *v, ZdFlash *const flash[], unsigned count)
{
    g_autofree char *json = NULL;
    QObject *stats;

    if (!count || !flash[0]) {
        return;
    }
    json = zd_flash_stats_json(flash, count);
    stats = qobject_from_json(json, &error_abort);
    visit_type_any(v, "flash", &stats, &error_abort);
    qobject_unref(stats);
}
