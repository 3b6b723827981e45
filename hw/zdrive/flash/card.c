/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all SSDs of a card share: the bridge's processor, its data path and the
 * PCI Express link with the width and speed that were negotiated.
 */
#include "internal.h"

/* 134 ms of 8 us, and 268 ms of 16 us */
#define COMMAND_SLOTS   16384
#define DATA_SLOTS      16384
#define COMMAND_SHIFT   13
#define DATA_SHIFT      14

void zd_flash_card_set_link(ZdFlashCard *card, uint32_t lanes,
                            uint32_t lane_mbps)
{
    const ZdFlashCardParams *p = card->p;
    uint64_t link;

    lanes = MIN(lanes ? lanes : p->lanes, p->lanes);
    lane_mbps = MIN(lane_mbps ? lane_mbps : p->lane_mbps, p->lane_mbps);
    /* of each packet, the payload is what counts */
    link = (uint64_t)lanes * lane_mbps * p->payload_bytes /
           (p->payload_bytes + p->packet_bytes);
    card->mbps[ZD_FLASH_READ] = MIN(link, p->read_mbps);
    card->mbps[ZD_FLASH_WRITE] = MIN(link, p->write_mbps);
    for (unsigned i = 0; i < 2; i++) {
        card->rate[i] = zd_rate(card->mbps[i]);
    }
}

ZdFlashCard *zd_flash_card_new(const ZdFlashCardParams *params,
                               uint32_t lanes, uint32_t lane_mbps)
{
    ZdFlashCard *card = g_new0(ZdFlashCard, 1);

    card->p = params;
    for (unsigned i = 0; i < 2; i++) {
        zd_calendar_init(&card->data[i], DATA_SLOTS, DATA_SHIFT);
    }
    zd_calendar_init(&card->command, COMMAND_SLOTS, COMMAND_SHIFT);
    zd_flash_card_set_link(card, lanes, lane_mbps);
    return card;
}

void zd_flash_card_settle(ZdFlashCard *card)
{
    zd_calendar_clear(&card->command);
    zd_calendar_clear(&card->data[0]);
    zd_calendar_clear(&card->data[1]);
}

void zd_flash_card_free(ZdFlashCard *card)
{
    if (card) {
        zd_calendar_free(&card->command);
        zd_calendar_free(&card->data[0]);
        zd_calendar_free(&card->data[1]);
        g_free(card);
    }
}

int64_t zd_flash_card_forward(ZdFlashCard *card, ZdFlashOp op, int64_t now)
{
    return zd_calendar_take(&card->command, now,
                            op == ZD_FLASH_WRITE ? card->p->write_ns :
                                                   card->p->read_ns) +
           card->p->latency_ns;
}

int64_t zd_flash_card_finish(ZdFlashCard *card, ZdFlashOp op, uint64_t bytes,
                             int64_t data_ns, int64_t done_ns)
{
    unsigned way = op == ZD_FLASH_WRITE;
    ZdCalendar *c = &card->data[card->p->half_duplex ? 0 : way];
    int64_t end;

    if (!bytes) {
        return done_ns;
    }
    end = zd_calendar_take(c, data_ns, zd_rate_ns(card->rate[way], bytes));
    return MAX(done_ns, end);
}

uint32_t zd_flash_card_ceiling(const ZdFlashCard *card, ZdFlashOp op)
{
    return card->mbps[op == ZD_FLASH_WRITE];
}
