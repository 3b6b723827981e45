/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results as a table for people or JSON for programs.
 */
#include <stdio.h>

#include "bench.h"

void bench_count(BenchResult *r, const BenchIo *io, int64_t from)
{
    uint64_t latency = io->end_ns - io->start_ns;

    if (r->series_ios && !io->flush && !io->trim) {
        unsigned second = io->end_ns / NS_PER_S;

        if (second >= r->series_ios->len) {
            g_array_set_size(r->series_ios, second + 1);
            g_array_set_size(r->series_lat, second + 1);
        }
        g_array_index(r->series_ios, uint64_t, second)++;
        g_array_index(r->series_lat, uint64_t, second) += latency;
    }
    if (io->end_ns < from || io->flush || io->trim) {
        return;
    }
    r->ios[io->op]++;
    r->bytes[io->op] += io->bytes;
    zd_flash_hist_add(&r->latency[io->op], latency);
}

static double us(uint64_t ns)
{
    return ns / 1000.0;
}

static double mean_us(const ZdFlashHist *h)
{
    return h->count ? h->sum / 1000.0 / h->count : 0;
}

static void json_side(const char *name, const ZdFlashHist *h, uint64_t ios,
                      uint64_t bytes, double seconds)
{
    printf("\"%s\":{\"ios\":%" G_GUINT64_FORMAT ",\"iops\":%.1f,"
           "\"MBps\":%.3f,", name, ios, ios / seconds, bytes / seconds / 1e6);
    printf("\"mean_us\":%.3f,\"p50_us\":%.3f,\"p99_us\":%.3f,"
           "\"p99.9_us\":%.3f,\"max_us\":%.3f", mean_us(h),
           us(zd_flash_hist_at(h, 500)), us(zd_flash_hist_at(h, 990)),
           us(zd_flash_hist_at(h, 999)), us(h->max));
    printf(",\"histogram_us\":[");
    for (unsigned i = 0, n = 0; i < 1000; i += 5) {
        if (h->count) {
            printf("%s%.2f", n++ ? "," : "", us(zd_flash_hist_at(h, i + 5)));
        }
    }
    printf("]}");
}

static void report_json(const BenchOptions *o, BenchCard *card,
                        const BenchResult *r)
{
    double seconds = r->measured_ns / 1e9;
    ZdFlashHist all = r->latency[0];
    uint64_t ios = r->ios[0] + r->ios[1];

    zd_flash_hist_merge(&all, &r->latency[1]);
    printf("{\"card\":\"%s:%s\",\"capacity_gb\":%u,\"scale\":%.6f,"
           "\"profile\":\"%s\",", o->product->type, o->product->model,
           o->capacity_gb, bench_card_scale(card), o->product->flash->name);
    printf("\"seconds\":%.6f,\"busy_s\":%.6f,\"mean_service_us\":%.3f,"
           "\"mean_depth\":%.3f,", seconds, r->busy_ns / 1e9, mean_us(&all),
           r->depth.count ? (double)r->depth.sum / r->depth.count : 0);
    printf("\"iops\":%.1f,\"MBps\":%.3f,\"mean_us\":%.3f,\"p99_us\":%.3f,"
           "\"max_us\":%.3f,\"busy_MBps\":%.3f,", ios / seconds,
           (r->bytes[0] + r->bytes[1]) / seconds / 1e6, mean_us(&all),
           us(zd_flash_hist_at(&all, 990)), us(all.max),
           (r->bytes[0] + r->bytes[1]) / (r->busy_ns / 1e9) / 1e6);
    printf("\"write_amplification\":%.4f,", r->host_bytes ?
           (double)r->nand_bytes / r->host_bytes : 0.0);
    json_side("read", &r->latency[0], r->ios[0], r->bytes[0], seconds);
    printf(",");
    json_side("write", &r->latency[1], r->ios[1], r->bytes[1], seconds);
    if (r->series_ios) {
        printf(",\"series\":[");
        for (unsigned i = 0; i < r->series_ios->len; i++) {
            uint64_t n = g_array_index(r->series_ios, uint64_t, i);

            printf("%s[%" G_GUINT64_FORMAT ",%.2f]", i ? "," : "", n,
                   n ? us(g_array_index(r->series_lat, uint64_t, i)) / n : 0);
        }
        printf("]");
    }
    if (o->stats) {
        printf(",\"ssds\":[");
        for (unsigned i = 0; i < bench_card_ssds(card); i++) {
            ZdFlash *ssd = bench_card_ssd(card, i);
            char *json = zd_flash_stats_json(&ssd, 1);

            printf("%s%s", i ? "," : "", json);
            g_free(json);
        }
        printf("]");
    }
    printf("}\n");
}

static void table_side(const char *name, const ZdFlashHist *h, uint64_t ios,
                       uint64_t bytes, double seconds)
{
    if (!ios) {
        return;
    }
    printf("%-6s %10.0f %9.1f %9.1f %9.1f %9.1f %9.1f %9.1f\n", name,
           ios / seconds, bytes / seconds / 1e6, mean_us(h),
           us(zd_flash_hist_at(h, 500)), us(zd_flash_hist_at(h, 990)),
           us(zd_flash_hist_at(h, 999)), us(h->max));
}

static void report_table(const BenchOptions *o, BenchCard *card,
                         const BenchResult *r)
{
    double seconds = r->measured_ns / 1e9;
    ZdFlashHist all = r->latency[0];

    zd_flash_hist_merge(&all, &r->latency[1]);
    printf("%s, %u GB", o->product->title, o->capacity_gb);
    if (bench_card_scale(card) != 1) {
        printf(" (scaled by 1/%.0f)", 1 / bench_card_scale(card));
    }
    printf(", %.3f s of virtual time\n\n", seconds);
    printf("             IOPS      MB/s   mean us       p50       p99     "
           "p99.9       max\n");
    table_side("read", &r->latency[0], r->ios[0], r->bytes[0], seconds);
    table_side("write", &r->latency[1], r->ios[1], r->bytes[1], seconds);
    printf("\nbusy %.3f s, mean service %.1f us, mean depth %.2f",
           r->busy_ns / 1e9, mean_us(&all),
           r->depth.count ? (double)r->depth.sum / r->depth.count : 0);
    if (r->host_bytes) {
        printf(", write amplification %.3f",
               (double)r->nand_bytes / r->host_bytes);
    }
    printf("\n");
}

void bench_report(const BenchOptions *o, BenchCard *card,
                  const BenchResult *r)
{
    if (o->json) {
        report_json(o, card, r);
    } else {
        report_table(o, card, r);
    }
}
