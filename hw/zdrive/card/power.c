/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The power rail of a card: switched by the user, or cut by what he has armed.
 *
 * A cut is decided on where a command starts or ends and carried out by a
 * timer at that very moment of virtual time, so that nothing is taken away
 * below the feet of who works on a request.  Without power the card does not
 * answer: registers and configuration space read as all ones, no DMA, no
 * interrupt, no link.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/qmp/qdict.h"
#include "qapi/qmp/qjson.h"
#include "qapi/qmp/qlist.h"
#include "sysemu/runstate.h"
#include "hw/zdrive/card/card.h"
#include "hw/zdrive/journal.h"
#include "trace.h"

static int64_t now_ns(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static unsigned ssds(const ZdCard *card)
{
    return card->plan.product->ssds;
}

/* The report */

static QObject *describe_request(ZdSsd *ssd, const ZdRequest *req)
{
    QDict *d = qdict_new();
    uint64_t lba = 0;
    uint32_t sectors = 0;

    qdict_put_int(d, "opcode", zd_ssd_describe(ssd, req, &lba, &sectors));
    qdict_put_int(d, "lba", lba);
    qdict_put_int(d, "sectors", sectors);
    qdict_put_bool(d, "queued", req->queued);
    qdict_put_bool(d, "started", req->started);
    return QOBJECT(d);
}

static QList *in_flight(ZdCard *card, unsigned i)
{
    QList *list = qlist_new();
    const ZdRequest *req;

    QTAILQ_FOREACH(req, &card->link[i].active, next) {
        qlist_append_obj(list, describe_request(card->ssd[i], req));
    }
    QTAILQ_FOREACH(req, &card->link[i].waiting, next) {
        qlist_append_obj(list, describe_request(card->ssd[i], req));
    }
    return list;
}

static QDict *describe_cut(const ZdCutReport *r)
{
    const struct {
        const char *name;
        uint64_t value;
    } pages[] = {
        { "buffered", r->buffered },
        { "programming", r->programming },
        { "journal-tail", r->journal_tail },
        { "saved", r->saved },
        { "lost", r->lost },
        { "lost-acknowledged", r->lost_acknowledged },
        { "unreadable", r->unreadable },
    };
    QDict *d = qdict_new();

    for (unsigned i = 0; i < ARRAY_SIZE(pages); i++) {
        qdict_put_int(d, pages[i].name, pages[i].value);
    }
    return d;
}

/* Off and on */

void zd_card_cut_power(ZdCard *card, const char *trigger, const ZdCut *cut)
{
    ZdPower *power = &card->power;
    ZdLoss loss = cut && zd_cut_has_loss(cut) ? cut->loss : power->loss;
    QDict *report = qdict_new();
    QList *list = qlist_new();
    QList *requests[ZD_MAX_MEMBERS];
    GString *json;

    qdict_put_str(report, "trigger", trigger);
    qdict_put_int(report, "time-ns", now_ns());
    power->off = true;
    /* all SSDs go at once; only then is there time to see what is left */
    for (unsigned i = 0; i < ssds(card); i++) {
        requests[i] = in_flight(card, i);
        zd_link_abort_all(&card->link[i]);
    }
    /* before the links go down: a dead bridge tells nobody of that */
    mv_bridge_sleep(&card->bridge);
    for (unsigned i = 0; i < ssds(card); i++) {
        ZdCutReport one;
        QDict *d;

        if (cut && zd_cut_has_seed(cut)) {
            zd_ssd_reseed(card->ssd[i], cut->seed);
        }
        zd_ssd_power_off(card->ssd[i], loss, &one);
        d = describe_cut(&one);
        qdict_put_int(d, "ssd", i);
        qdict_put(d, "in-flight", requests[i]);
        qlist_append(list, d);
        trace_zd_power_cut(i, trigger, one.lost, one.unreadable);
    }
    qdict_put(report, "ssds", list);
    zd_journal_power_cut(card->journal);

    g_free(power->report);
    json = qobject_to_json(QOBJECT(report));
    power->report = g_string_free(json, false);
    qobject_unref(report);
    zd_card_save_state(card);
}

/* What the SSDs come back as. */
static void consequences(ZdCard *card, const ZdCut *cut)
{
    for (unsigned i = 0; i < ssds(card); i++) {
        g_autofree char *fault = NULL;

        if ((zd_cut_of_ssd(cut) && cut->ssd != i) ||
            !zd_ssd_chance(card->ssd[i], cut->one_in)) {
            continue;
        }
        zd_ssd_grow_bad_blocks(card->ssd[i], cut->bad_blocks);
        if (cut->gone) {
            fault = g_strdup("missing");
        } else if (zd_cut_panics(cut)) {
            fault = g_strdup_printf("panic,form=%s", zd_cut_panic_form(cut));
        }
        if (fault) {
            zd_ssd_add_fault(card->ssd[i], fault);
        }
    }
}

static void arm(ZdCard *card, ZdCut *cut, int64_t when);

void zd_card_restore_power(ZdCard *card)
{
    ZdPower *power = &card->power;
    int64_t longest = 0;

    timer_del(power->timer);
    power->stage = ZD_POWER_STAGE_NONE;
    power->off = false;
    pci_device_reset(PCI_DEVICE(card));
    for (unsigned i = 0; i < ssds(card); i++) {
        longest = MAX(longest, zd_ssd_power_on(card->ssd[i]));
    }
    for (unsigned i = 0; i < power->cuts.count; i++) {
        if (power->cuts.list[i].trigger == ZD_CUT_RECOVERY) {
            arm(card, &power->cuts.list[i], now_ns() + longest / 2);
            break;
        }
    }
    zd_card_save_state(card);
}

static void after_cut(ZdCard *card)
{
    ZdPower *power = &card->power;

    power->stage = ZD_POWER_STAGE_NONE;
    switch (power->fired.then) {
    case ZD_THEN_STAY:
        break;
    case ZD_THEN_ON:
    case ZD_THEN_RESET:
        power->stage = ZD_POWER_STAGE_OFF;
        timer_mod(power->timer, now_ns() + power->fired.for_ns);
        break;
    case ZD_THEN_PAUSE:
        qemu_system_vmstop_request_prepare();
        qemu_system_vmstop_request(RUN_STATE_PAUSED);
        break;
    case ZD_THEN_QUIT:
        qemu_system_shutdown_request(SHUTDOWN_CAUSE_HOST_QMP_QUIT);
        break;
    }
}

static void power_timer(void *opaque)
{
    ZdCard *card = opaque;
    ZdPower *power = &card->power;

    switch (power->stage) {
    case ZD_POWER_STAGE_DUE:
        if (power->fired.ramp_ns) {
            for (unsigned i = 0; i < ssds(card); i++) {
                zd_ssd_supply_fails(card->ssd[i]);
            }
            power->stage = ZD_POWER_STAGE_RAMP;
            timer_mod(power->timer, now_ns() + power->fired.ramp_ns);
            break;
        }
        /* fall through */
    case ZD_POWER_STAGE_RAMP:
        zd_card_cut_power(card, zd_cut_name(&power->fired), &power->fired);
        consequences(card, &power->fired);
        after_cut(card);
        break;
    case ZD_POWER_STAGE_OFF:
        zd_card_restore_power(card);
        if (power->fired.then == ZD_THEN_RESET) {
            qemu_system_reset_request(SHUTDOWN_CAUSE_GUEST_RESET);
        }
        break;
    }
}

/* Armed cuts */

static void arm(ZdCard *card, ZdCut *cut, int64_t when)
{
    ZdPower *power = &card->power;

    power->fired = *cut;
    zd_cuts_remove(&power->cuts, cut - power->cuts.list);
    power->stage = ZD_POWER_STAGE_DUE;
    timer_mod(power->timer, when);
}

static void time_timer(void *opaque)
{
    ZdCard *card = opaque;
    ZdPower *power = &card->power;
    int64_t next = INT64_MAX;

    for (unsigned i = 0; i < power->cuts.count; i++) {
        ZdCut *cut = &power->cuts.list[i];

        if (cut->trigger != ZD_CUT_TIME) {
            continue;
        }
        if (power->armed_ns + cut->at <= now_ns() && !power->off &&
            power->stage == ZD_POWER_STAGE_NONE) {
            arm(card, cut, now_ns());
            i--;
        } else {
            next = MIN(next, MAX(power->armed_ns + (int64_t)cut->at,
                                 now_ns() + SCALE_MS));
        }
    }
    if (next != INT64_MAX) {
        timer_mod(power->time_timer, next);
    }
}

/* Whether the end of @req is the one that @cut waits for. */
static bool due_at_end(ZdCut *cut, unsigned i, const ZdRequest *req)
{
    switch (req->media.kind) {
    case ZD_MEDIA_WRITE:
        if (zd_cut_counts(cut, ZD_CUT_WRITES, i, req->media.ret == 0)) {
            return true;
        }
        break;
    case ZD_MEDIA_FLUSH:
        if (zd_cut_counts(cut, ZD_CUT_FLUSHES, i, req->media.ret == 0)) {
            return true;
        }
        break;
    }
    return zd_cut_counts(cut, ZD_CUT_COMMANDS, i, 1);
}

/* When the cut is due that the start of @req sets off, or -1. */
static int64_t due_at_start(ZdCut *cut, unsigned i, const ZdRequest *req,
                            const ZdFlashActivity *now,
                            const ZdFlashActivity *before)
{
    const ZdMediaOp *op = &req->media;
    uint64_t sector = cut->at * ZD_SECTOR_SIZE;

    if (zd_cut_counts(cut, ZD_CUT_PROGRAMS, i,
                      now->programs - before->programs)) {
        return (now->program_start + now->program_end) / 2;
    }
    if (zd_cut_counts(cut, ZD_CUT_ERASES, i, now->erases - before->erases)) {
        return (now->erase_start + now->erase_end) / 2;
    }
    if (zd_cut_counts(cut, ZD_CUT_COLLECTION, i,
                      now->collecting && !before->collecting)) {
        return now_ns();
    }
    if (op->kind == ZD_MEDIA_WRITE && op->offset <= sector &&
        sector - op->offset < op->bytes &&
        zd_cut_counts(cut, ZD_CUT_LBA, i, 1)) {
        return (now_ns() + op->deadline_ns) / 2;
    }
    return -1;
}

void zd_card_media_event(void *opaque, unsigned i, const ZdRequest *req,
                         bool ended)
{
    ZdCard *card = opaque;
    ZdPower *power = &card->power;
    ZdFlash *flash = zd_ssd_flash(card->ssd[i]);
    ZdFlashActivity activity = { 0 };
    int64_t when = -1;

    if (!power->cuts.count || power->off ||
        power->stage != ZD_POWER_STAGE_NONE) {
        return;
    }
    if (flash && !ended) {
        zd_flash_activity(flash, &activity);
    }
    for (unsigned n = 0; n < power->cuts.count; n++) {
        ZdCut *cut = &power->cuts.list[n];

        if (!ended) {
            when = due_at_start(cut, i, req, &activity, &power->seen[i]);
        } else if (due_at_end(cut, i, req)) {
            when = now_ns();
        }
        if (when >= 0) {
            arm(card, cut, MAX(when, now_ns()));
            break;
        }
    }
    if (!ended) {
        power->seen[i] = activity;
    }
}

/* From now on is counted. */
void zd_card_count_cuts(ZdCard *card)
{
    ZdPower *power = &card->power;

    for (unsigned i = 0; i < ssds(card); i++) {
        ZdFlash *flash = zd_ssd_flash(card->ssd[i]);

        if (flash) {
            zd_flash_activity(flash, &power->seen[i]);
            /* what goes on already counts */
            power->seen[i].collecting = false;
        }
    }
    timer_del(power->time_timer);
    time_timer(card);
}

bool zd_card_set_cuts(ZdCard *card, const char *text, Error **errp)
{
    g_autofree char *message = NULL;
    ZdCuts cuts;

    if (!zd_cuts_parse(&cuts, text, ssds(card), &message)) {
        error_setg(errp, "%s", message);
        return false;
    }
    for (unsigned i = 0; i < cuts.count && !card->plan.timed; i++) {
        if (zd_cut_needs_flash(&cuts.list[i])) {
            error_setg(errp, "power-cut '%s' waits for what NAND does; with "
                       "timing=off it does nothing, use timing=model",
                       zd_cut_name(&cuts.list[i]));
            return false;
        }
    }
    if (card->power.stage == ZD_POWER_STAGE_DUE) {
        /* set off by one that is not wanted any more */
        timer_del(card->power.timer);
        card->power.stage = ZD_POWER_STAGE_NONE;
    }
    card->power.cuts = cuts;
    card->power.armed_ns = now_ns();
    zd_card_count_cuts(card);
    return true;
}

/* Life */

/*
 * S3 (suspend to RAM): the slot has auxiliary power only, which the SSDs do not
 * run on.  A host that has put them into standby before loses nothing.
 */
static void suspended(Notifier *notifier, void *data)
{
    ZdPower *power = container_of(notifier, ZdPower, suspend);
    ZdCard *card = container_of(power, ZdCard, power);
    ZdCutReport report;

    for (unsigned i = 0; i < ssds(card) && !power->off; i++) {
        zd_ssd_power_off(card->ssd[i], power->loss, &report);
    }
}

void zd_card_wake(ZdCard *card)
{
    for (unsigned i = 0; i < ssds(card) && !card->power.off; i++) {
        if (card->link[i].down & ZD_LINK_UNPOWERED) {
            zd_ssd_power_on(card->ssd[i]);
        }
    }
}

static void woken(Notifier *notifier, void *data)
{
    ZdPower *power = container_of(notifier, ZdPower, wakeup);

    zd_card_wake(container_of(power, ZdCard, power));
}

bool zd_card_init_power(ZdCard *card, Error **errp)
{
    ZdPower *power = &card->power;

    power->suspend.notify = suspended;
    qemu_register_suspend_notifier(&power->suspend);
    power->wakeup.notify = woken;
    qemu_register_wakeup_notifier(&power->wakeup);

    power->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, power_timer, card);
    power->time_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, time_timer, card);
    return !card->props.power_cut ||
           zd_card_set_cuts(card, card->props.power_cut, errp);
}

void zd_card_stop_power(ZdCard *card)
{
    card->power.cuts.count = 0;
    timer_del(card->power.timer);
    timer_del(card->power.time_timer);
}

void zd_card_exit_power(ZdCard *card)
{
    notifier_remove(&card->power.suspend);
    notifier_remove(&card->power.wakeup);
    timer_free(card->power.timer);
    timer_free(card->power.time_timer);
    g_free(card->power.report);
    card->power.report = NULL;
    for (unsigned i = 0; i < ARRAY_SIZE(card->power.text); i++) {
        g_clear_pointer(&card->power.text[i], g_free);
    }
}
