/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The timing of the flash model against an event-driven twin.
 *
 * The model reserves: when a command comes, it says at once when each resource
 * will serve it.  The twin knows nothing of that.  It has servers with queues
 * and a list of events in order of time, as a text book has it, and takes no
 * decision before its time has come.
 *
 * Where a page is stored is no question of time, so the twin asks the model.
 */
#include "flash-small.h"

#define PAGE_NS         40960       /* 4 KiB on a channel */
#define DIES            8
#define CHANNELS        4

/* The twin's clock: what happens next, by time, then in order of posting. */

typedef void Happen(void *opaque);

typedef struct Event {
    int64_t time;
    uint64_t number;
    Happen *happen;
    void *opaque;
} Event;

static GSequence *events;
static uint64_t posted;
static int64_t now;

static int compare(gconstpointer a, gconstpointer b, gpointer unused)
{
    const Event *x = a, *y = b;

    return x->time != y->time ? (x->time < y->time ? -1 : 1) :
                                (x->number < y->number ? -1 : 1);
}

static void post(int64_t time, Happen *happen, void *opaque)
{
    Event *event = g_new(Event, 1);

    *event = (Event) { time, posted++, happen, opaque };
    g_sequence_insert_sorted(events, event, compare, NULL);
}

static void run_events(void)
{
    while (!g_sequence_is_empty(events)) {
        GSequenceIter *first = g_sequence_get_begin_iter(events);
        Event event = *(Event *)g_sequence_get(first);

        g_sequence_remove(first);
        now = event.time;
        event.happen(event.opaque);
    }
}

/* A server does one thing at a time; urgent ones first, else as they come. */

typedef struct Waiter {
    Happen *begin;
    void *opaque;
} Waiter;

typedef struct Server {
    bool busy;
    GQueue urgent, other;
} Server;

static void enter(Server *s, bool urgent, Happen *begin, void *opaque)
{
    if (s->busy) {
        Waiter *w = g_new(Waiter, 1);

        *w = (Waiter) { begin, opaque };
        g_queue_push_tail(urgent ? &s->urgent : &s->other, w);
        return;
    }
    s->busy = true;
    begin(opaque);
}

static void leave(Server *s)
{
    Waiter *w = g_queue_pop_head(&s->urgent);

    w = w ? w : g_queue_pop_head(&s->other);
    s->busy = w;
    if (w) {
        w->begin(w->opaque);
        g_free(w);
    }
}

/* NAND */

static Server die[DIES], channel[CHANNELS];

typedef struct NandOp {
    bool program, upper, erase;
    unsigned die;
    int64_t arrive, end;
    Happen *done;
    void *opaque;
} NandOp;

static void nand_end(NandOp *op)
{
    op->end = now;
    leave(&die[op->die]);
    if (op->done) {
        op->done(op->opaque);
    }
}

static void programmed(void *opaque)
{
    nand_end(opaque);
}

static void moved(void *opaque)
{
    NandOp *op = opaque;

    leave(&channel[op->die % CHANNELS]);
    if (op->program) {
        post(now + (op->upper ? small_nand.prog_upper_ns :
                                small_nand.prog_lower_ns), programmed, op);
    } else {
        nand_end(op);
    }
}

static void move(void *opaque)
{
    NandOp *op = opaque;

    post(now + (op->program ? 2 * PAGE_NS : PAGE_NS), moved, op);
}

static void sensed_or_erased(void *opaque)
{
    NandOp *op = opaque;

    enter(&channel[op->die % CHANNELS], false, move, op);
}

static void nand_begin(void *opaque)
{
    NandOp *op = opaque;

    post(now + (!op->program ? small_nand.read_ns :
                op->erase ? small_nand.erase_ns : 0), sensed_or_erased, op);
}

static void nand_arrive(void *opaque)
{
    NandOp *op = opaque;

    enter(&die[op->die], !op->program, nand_begin, op);
}

/* One operation at a time: the schedules are the same to the nanosecond. */
static void test_nand_alone(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(21);
    int64_t t = 0, start;
    ZdNand n;

    zd_nand_init(&n, &small_params, DIES);
    for (unsigned i = 0; i < 5000; i++) {
        NandOp op = {
            .program = g_rand_int_range(rand, 0, 2),
            .upper = g_rand_int_range(rand, 0, 2),
            .die = g_rand_int_range(rand, 0, DIES),
        };
        int64_t end;

        op.erase = op.program && g_rand_int_range(rand, 0, 4) == 0;
        t += g_rand_int_range(rand, 5000000, 9000000);
        end = op.program ? zd_nand_program(&n, t, op.die, op.upper, op.erase,
                                           &start) :
                           zd_nand_read(&n, t, op.die, 4096);
        post(t, nand_arrive, &op);
        run_events();
        /* the rate is rounded to 2^-20 */
        g_assert_cmpint(ABS(op.end - end), <=, 2);
    }
    zd_nand_free(&n);
}

typedef struct Mix {
    const char *name;
    double gap_ns;              /* mean time between operations */
    unsigned programs, erases;  /* percent; of the programs */
    double tolerance;           /* of the mean latency */
} Mix;

#define NAND_OPS    20000

static void nand_mix(const Mix *mix)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(mix->gap_ns);
    g_autofree NandOp *op = g_new0(NandOp, NAND_OPS);
    double ours[2] = { 0 }, theirs[2] = { 0 };
    unsigned count[2] = { 0 };
    int64_t t = 0, start;
    ZdNand n;

    zd_nand_init(&n, &small_params, DIES);
    for (unsigned i = 0; i < NAND_OPS; i++) {
        NandOp *o = &op[i];
        int64_t end;

        t += g_rand_double_range(rand, 0, 2 * mix->gap_ns);
        o->arrive = t;
        o->die = g_rand_int_range(rand, 0, DIES);
        o->program = g_rand_int_range(rand, 0, 100) < (int)mix->programs;
        o->upper = g_rand_int_range(rand, 0, 2);
        o->erase = o->program &&
                   g_rand_int_range(rand, 0, 100) < (int)mix->erases;
        end = o->program ? zd_nand_program(&n, t, o->die, o->upper, o->erase,
                                           &start) :
                           zd_nand_read(&n, t, o->die, 4096);
        ours[o->program] += end - t;
        post(t, nand_arrive, o);
    }
    run_events();
    for (unsigned i = 0; i < NAND_OPS; i++) {
        theirs[op[i].program] += op[i].end - op[i].arrive;
        count[op[i].program]++;
    }
    for (unsigned i = 0; i < 2; i++) {
        if (count[i]) {
            g_test_message("%s, %s: model %.0f ns, twin %.0f ns", mix->name,
                           i ? "programs" : "reads", ours[i] / count[i],
                           theirs[i] / count[i]);
            g_assert_cmpfloat(ABS(ours[i] / theirs[i] - 1), <,
                              mix->tolerance);
        }
    }
    zd_nand_free(&n);
}

static void test_nand_mixes(void)
{
    static const Mix mixes[] = {
        { "reads, nearly idle", 100000, 0, 0, 0.05 },
        { "reads, half busy", 25000, 0, 0, 0.05 },
        { "reads, nearly full", 13000, 0, 0, 0.05 },
        { "programs, nearly idle", 1000000, 100, 0, 0.05 },
        { "programs, half busy", 300000, 100, 0, 0.05 },
        { "programs and erases, half busy", 400000, 100, 10, 0.05 },
        { "one program in ten, nearly idle", 200000, 10, 5, 0.05 },
        /*
         * In the model a read passes the last program that waits for its die,
         * in the twin all of them.
         */
        { "one program in ten, half busy", 50000, 10, 5, 0.20 },
        { "half programs, half busy", 200000, 50, 5, 0.20 },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(mixes); i++) {
        nand_mix(&mixes[i]);
    }
}

/*
 * The way of a write: link, firmware, data path, write buffer, the way to NAND,
 * dies; and of a read, which shares firmware and link with it.
 */

static Server firmware, sata, data_path, way_to_nand;
static uint32_t buffer_used, buffer_size;

typedef struct Command Command;

/* Each write is of two pages, one program unit, so none is ever partial. */
typedef struct Page {
    Command *command;
    bool last;
} Page;

struct Command {
    bool read;
    NandOp nand;
    bool buffered;              /* a read: it is still in the buffer */
    int64_t arrive, end;
    int64_t model_end;
    unsigned parts;             /* link and pages that are not done */
    Page page[2];
};

static Page *held;              /* it is in the data path, without room */

static void command_part_done(Command *c)
{
    if (--c->parts == 0) {
        c->end = now;
    }
}

static void unit_ready(void *opaque)
{
    leave(&way_to_nand);
    nand_arrive(&((Command *)opaque)->nand);
}

static void unit_begin(void *opaque)
{
    post(now + zd_rate_ns(zd_rate(small_params.store_mbps), 2 * 4096),
         unit_ready, opaque);
}

static void page_accept(Page *p)
{
    buffer_used += 4096;
    if (p->last) {
        enter(&way_to_nand, false, unit_begin, p->command);
    }
    command_part_done(p->command);
    leave(&data_path);
}

static void page_at_buffer(void *opaque)
{
    if (buffer_used + 4096 > buffer_size) {
        held = opaque;
    } else {
        page_accept(opaque);
    }
}

static void unit_programmed(void *opaque)
{
    buffer_used -= 2 * 4096;
    if (held) {
        Page *p = held;

        held = NULL;
        page_accept(p);
    }
}

static void page_begin(void *opaque)
{
    post(now + zd_rate_ns(zd_rate(small_params.write_mbps), 4096),
         page_at_buffer, opaque);
}

static void link_end(void *opaque)
{
    leave(&sata);
    command_part_done(opaque);
}

static void link_begin(void *opaque)
{
    Command *c = opaque;

    post(now + zd_rate_ns(zd_rate(small_params.link_mbps),
                          c->read ? 4096 : 2 * 4096), link_end, c);
    if (!c->read) {
        enter(&data_path, false, page_begin, &c->page[0]);
        enter(&data_path, false, page_begin, &c->page[1]);
    }
}

static void read_from_nand(void *opaque)
{
    enter(&sata, false, link_begin, opaque);
}

static void firmware_end(void *opaque)
{
    Command *c = opaque;

    leave(&firmware);
    if (c->read && !c->buffered) {
        nand_arrive(&c->nand);
    } else {
        enter(&sata, false, link_begin, c);
    }
}

static void firmware_begin(void *opaque)
{
    Command *c = opaque;

    post(now + (c->read ? small_params.read_ns : small_params.write_ns),
         firmware_end, c);
}

static void command_arrive(void *opaque)
{
    enter(&firmware, false, firmware_begin, opaque);
}

#define COMMANDS    6000
#define READ_BEHIND 64          /* units: by then they are programmed */

typedef struct Load {
    const char *name;
    double gap_ns;
    unsigned reads;             /* percent */
    int64_t exact_ns;           /* each command that close; 0: only the mean */
} Load;

/* Where unit @number of a sequential write went. */
static void locate(const ZdFlash *f, uint32_t number, NandOp *op)
{
    uint32_t entry = zd_map_get(&f->map, number * 2);

    op->die = zd_ftl_die(f, entry);
    op->upper = zd_entry_page(entry) / f->nand.planes / f->row_units & 1;
}

static void path_load(const Load *load)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(load->gap_ns + load->reads);
    g_autofree Command *command = g_new0(Command, COMMANDS);
    ZdFlash *f = zd_flash_new(&small_params, 128 << 11, 1, &small_options);
    double ours[2] = { 0 }, theirs[2] = { 0 };
    unsigned count[2] = { 0 };
    uint32_t written = 0;
    int64_t t = 0;

    buffer_used = 0;
    buffer_size = f->buffer.capacity;
    for (unsigned i = 0; i < COMMANDS; i++) {
        Command *c = &command[i];
        ZdFlashCmd cmd = {
            .op = ZD_FLASH_WRITE,
            .lba = written * 16,
            .sectors = 16,
            .class_all = ZD_FLASH_CLASSES - 1,
        };

        t += g_rand_double_range(rand, 0, 2 * load->gap_ns);
        c->arrive = t;
        c->read = written > READ_BEHIND &&
                  g_rand_int_range(rand, 0, 100) < (int)load->reads;
        c->nand.opaque = c;
        if (c->read) {
            uint32_t unit = g_rand_int_range(rand, 0, written - READ_BEHIND);

            cmd.op = ZD_FLASH_READ;
            cmd.lba = unit * 16;
            cmd.sectors = 8;
            locate(f, unit, &c->nand);
            c->nand.done = read_from_nand;
            c->parts = 1;
        } else {
            c->nand.program = true;
            c->nand.done = unit_programmed;
            c->parts = 3;
            c->page[0] = (Page) { c, false };
            c->page[1] = (Page) { c, true };
        }
        c->model_end = zd_flash_submit(f, &cmd, t);
        if (!c->read) {
            locate(f, written++, &c->nand);
        }
        post(t + small_params.link_command_ns, command_arrive, c);
    }
    run_events();
    g_assert_cmpuint(buffer_used, ==, 0);
    for (unsigned i = 0; i < COMMANDS; i++) {
        Command *c = &command[i];

        g_assert_cmpuint(c->parts, ==, 0);
        if (load->exact_ns) {
            g_assert_cmpint(ABS(c->end - c->model_end), <=, load->exact_ns);
        }
        ours[c->read] += c->model_end - c->arrive;
        theirs[c->read] += c->end - c->arrive;
        count[c->read]++;
    }
    for (unsigned i = 0; i < 2; i++) {
        if (count[i]) {
            g_test_message("%s, %s: model %.0f ns, twin %.0f ns", load->name,
                           i ? "reads" : "writes", ours[i] / count[i],
                           theirs[i] / count[i]);
            g_assert_cmpfloat(ABS(ours[i] / theirs[i] - 1), <, 0.05);
        }
    }
    zd_flash_free(f);
}

static void test_path(void)
{
    /*
     * The dies take a unit of 8 KiB each 135 us on average; the firmware could
     * give them one each 20 us.
     */
    static const Load loads[] = {
        { "writes, nearly idle", 1000000, 0, 1000 },
        { "writes, half busy", 270000, 0, 1000 },
        { "writes, nearly full", 145000, 0, 0 },
        { "writes, held up by NAND", 100000, 0, 0 },
        { "writes, as fast as they come", 1, 0, 0 },
        { "reads and writes, nearly idle", 500000, 50, 0 },
        { "reads and writes, half busy", 150000, 50, 0 },
        { "mostly reads", 80000, 90, 0 },
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(loads); i++) {
        path_load(&loads[i]);
    }
}

int main(int argc, char **argv)
{
    int status;

    g_test_init(&argc, &argv, NULL);
    events = g_sequence_new(g_free);
    g_test_add_func("/flash/twin/nand-alone", test_nand_alone);
    g_test_add_func("/flash/twin/nand-mixes", test_nand_mixes);
    g_test_add_func("/flash/twin/path", test_path);
    status = g_test_run();
    g_sequence_free(events);
    return status;
}
