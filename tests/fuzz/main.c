/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs random programs, each in a child process with a QEMU of its own, and
 * watches it: a crash of QEMU, a report of a sanitiser, memory or log that
 * grows, and an operation that does not end are failures.  Then the program is
 * made as short as possible and shown with the last operations.
 *
 *   zdrive-fuzz --seconds 60              new programs from the clock's seed
 *   zdrive-fuzz --seconds 60 --seed 7     the same ones each time
 *   zdrive-fuzz --replay FILE             one program of the corpus
 *   zdrive-fuzz --corpus FOLDER           all of them
 *
 * Environment: ZDRIVE_SO, QTEST_QEMU_BINARY and QEMU_MODULE_DIR, as Meson sets
 * them (tests/fuzz/meson.build).
 */
#include "qemu/osdep.h"
#include <sys/wait.h>
#include "fuzz.h"

#define CHECK_EVERY     100     /* operations */
#define HANG_S          60      /* without one operation done */
#define POLL_US         20000

static int opt_seconds;
static gint64 opt_seed = -1;
static int opt_ops = 3000;
static int opt_shorten = 300;
static char *opt_machine;
static char *opt_replay;
static char *opt_corpus;
static char *opt_save;
static gboolean opt_tap;
static gboolean opt_verbose;

static const GOptionEntry options[] = {
    { "seconds", 0, 0, G_OPTION_ARG_INT, &opt_seconds,
      "run new programs for so long", "N" },
    { "seed", 0, 0, G_OPTION_ARG_INT64, &opt_seed,
      "of the first program; the others count up (default: the clock)", "N" },
    { "ops", 0, 0, G_OPTION_ARG_INT, &opt_ops, "operations per program", "N" },
    { "machine", 0, 0, G_OPTION_ARG_STRING, &opt_machine,
      "only on this kind of machine", "NAME" },
    { "replay", 0, 0, G_OPTION_ARG_FILENAME, &opt_replay,
      "run one saved program", "FILE" },
    { "corpus", 0, 0, G_OPTION_ARG_FILENAME, &opt_corpus,
      "run all programs of a folder", "FOLDER" },
    { "save", 0, 0, G_OPTION_ARG_FILENAME, &opt_save,
      "where to write a program that failed", "FILE" },
    { "shorten", 0, 0, G_OPTION_ARG_INT, &opt_shorten,
      "seconds for making a failing program short; 0: do not", "N" },
    { "tap", 0, 0, G_OPTION_ARG_NONE, &opt_tap, "report as TAP", NULL },
    { "verbose", 0, 0, G_OPTION_ARG_NONE, &opt_verbose,
      "show every operation and what QEMU says", NULL },
    { NULL }
};

static FuzzStatus *status;
static char *folder;
static unsigned tests, failures;

const char *fuzz_folder(void)
{
    return folder;
}

static void remove_folder(void)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;

    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *path = g_build_filename(folder, name, NULL);

        unlink(path);
    }
    rmdir(folder);
}

void fuzz_note(FuzzMachine *m, const char *fmt, ...)
{
    char *line = m->status->history[m->status->next];
    size_t used = strlen(line);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line + used, FUZZ_LINE - used, fmt, ap);
    va_end(ap);
}

void fuzz_fail(FuzzMachine *m, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(m->status->complaint, FUZZ_LINE, fmt, ap);
    va_end(ap);
    qtest_kill_qemu(m->card->qts);
    _exit(EXIT_FAILURE);
}

static void run_child(const FuzzProgram *p)
{
    FuzzMachine *m = fuzz_machine_start(p->machine, status);
    unsigned i;

    status->beats++;
    for (i = 0; i < p->ops->len; i++) {
        unsigned index = g_array_index(p->ops, unsigned, i);

        status->history[status->next][0] = '\0';
        fuzz_note(m, "%u: ", index);
        fuzz_op(m, p->seed, index);
        if (opt_verbose) {
            fprintf(stderr, "# %s\n", status->history[status->next]);
        }
        status->next = (status->next + 1) % FUZZ_HISTORY;
        status->beats++;
        if (i % CHECK_EVERY == CHECK_EVERY - 1) {
            fuzz_machine_check(m);
            status->beats++;
        }
    }
    fuzz_machine_check(m);
    fuzz_machine_finish(m);
    _exit(EXIT_SUCCESS);
}

static char *output_path(void)
{
    return g_build_filename(folder, "output", NULL);
}

/* What the child and its QEMU say goes to a file, or to the user. */
static void redirect_output(void)
{
    g_autofree char *path = output_path();
    int fd = opt_verbose ? dup(STDERR_FILENO)
                         : open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    close(fd);
}

static void show_output(void)
{
    g_autofree char *path = output_path();
    g_autofree char *text = NULL;

    if (!opt_verbose && g_file_get_contents(path, &text, NULL, NULL)) {
        fputs(text, stderr);
    }
}

/* Run @p; false when something was wrong, which status->complaint says. */
static bool run_program(const FuzzProgram *p)
{
    uint64_t beats = 0;
    gint64 last = g_get_monotonic_time();
    int wstatus;
    pid_t pid;

    memset(status, 0, sizeof(*status));
    fflush(stdout);
    pid = fork();
    g_assert_cmpint(pid, >=, 0);
    if (!pid) {
        redirect_output();
        run_child(p);
    }
    while (waitpid(pid, &wstatus, WNOHANG) == 0) {
        gint64 now = g_get_monotonic_time();

        if (status->beats != beats) {
            beats = status->beats;
            last = now;
        } else if (now - last > HANG_S * G_USEC_PER_SEC) {
            /* the sanitiser shows where it is; then it dies with its parent */
            if (status->qemu) {
                kill(status->qemu, SIGABRT);
                g_usleep(5 * G_USEC_PER_SEC);
            }
            kill(pid, SIGKILL);
            waitpid(pid, &wstatus, 0);
            snprintf(status->complaint, FUZZ_LINE, beats ?
                     "QEMU has hung for %d s in the last operation" :
                     "QEMU does not start in %d s", HANG_S);
            return false;
        }
        g_usleep(POLL_US);
    }
    if (WIFEXITED(wstatus) && !WEXITSTATUS(wstatus)) {
        return true;
    }
    if (!status->complaint[0]) {
        snprintf(status->complaint, FUZZ_LINE, "QEMU has crashed");
    }
    return false;
}

static bool fails(const FuzzProgram *p)
{
    return !run_program(p);
}

static void show_run(void)
{
    unsigned i;

    show_output();
    fprintf(stderr, "# %s\n", status->complaint);
    fprintf(stderr, "# the last operations:\n");
    for (i = 0; i < FUZZ_HISTORY; i++) {
        const char *line =
            status->history[(status->next + 1 + i) % FUZZ_HISTORY];

        if (*line) {
            fprintf(stderr, "#   %s\n", line);
        }
    }
}

static void show_failure(FuzzProgram *p)
{
    g_autofree char *text = NULL;

    show_run();
    if (opt_shorten && status->beats) {
        p = fuzz_program_shorten(p, opt_shorten, fails);
        fprintf(stderr, "# made short: %u operations; once more:\n",
                p->ops->len);
        if (run_program(p)) {
            fprintf(stderr, "# this time it was good\n");
        } else {
            show_run();
        }
    }
    text = fuzz_program_text(p);
    fprintf(stderr, "# the program, for --replay and tests/fuzz/corpus:\n%s",
            text);
    if (opt_save) {
        g_file_set_contents(opt_save, text, -1, NULL);
    }
    fuzz_program_free(p);
}

/* Takes @p. */
static void run_test(FuzzProgram *p, const char *name)
{
    unsigned ops = p->ops->len;
    const char *machine = fuzz_machine_name(p->machine);
    bool good = run_program(p);

    tests++;
    failures += !good;
    if (opt_tap) {
        printf("%s %u %s: %u operations on %s\n", good ? "ok" : "not ok",
               tests, name, ops, machine);
    } else {
        printf("%s: %u operations on %s: %s\n", name, ops, machine,
               good ? "good" : "FAILED");
    }
    fflush(stdout);
    if (good) {
        fuzz_program_free(p);
    } else {
        show_failure(p);
    }
}

static void run_file(const char *path)
{
    g_autoptr(GError) err = NULL;
    g_autofree char *name = g_path_get_basename(path);
    FuzzProgram *p = fuzz_program_load(path, &err);

    if (!p) {
        fprintf(stderr, "zdrive-fuzz: %s\n", err->message);
        exit(EXIT_FAILURE);
    }
    run_test(p, name);
}

static int by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void run_corpus(void)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GDir) dir = g_dir_open(opt_corpus, 0, NULL);
    const char *name;
    unsigned i;

    while (dir && (name = g_dir_read_name(dir))) {
        g_ptr_array_add(names, g_strdup(name));
    }
    g_ptr_array_sort(names, by_name);
    for (i = 0; i < names->len; i++) {
        g_autofree char *path = g_build_filename(opt_corpus,
                                                 names->pdata[i], NULL);

        run_file(path);
    }
}

static unsigned find_machine(const char *name)
{
    unsigned i;

    for (i = 0; i < fuzz_machine_kinds(); i++) {
        if (!strcmp(fuzz_machine_name(i), name)) {
            return i;
        }
    }
    fprintf(stderr, "zdrive-fuzz: there is no machine '%s'\n", name);
    exit(EXIT_FAILURE);
}

/* Until the time is over, or something fails: each failure takes long. */
static void run_random(void)
{
    gint64 end = g_get_monotonic_time() +
                 opt_seconds * (gint64)G_USEC_PER_SEC;
    uint64_t seed = opt_seed >= 0 ? opt_seed : g_get_real_time();

    do {
        g_autofree char *name = g_strdup_printf("seed %" PRIu64, seed);

        run_test(fuzz_program_new(seed,
                                  opt_machine ? find_machine(opt_machine)
                                  : seed % fuzz_machine_kinds(), opt_ops),
                 name);
        seed++;
    } while (!failures && g_get_monotonic_time() < end);
}

int main(int argc, char **argv)
{
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GError) err = NULL;

    g_option_context_add_main_entries(context, options, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &err)) {
        fprintf(stderr, "zdrive-fuzz: %s\n", err->message);
        return EXIT_FAILURE;
    }
    status = mmap(NULL, sizeof(*status), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    g_assert(status != MAP_FAILED);
    folder = g_dir_make_tmp("zdrive-fuzz-XXXXXX", &err);
    g_assert_no_error(err);

    if (opt_replay) {
        run_file(opt_replay);
    } else if (opt_corpus) {
        run_corpus();
    } else {
        run_random();
    }
    if (opt_tap) {
        printf("1..%u\n", tests);
    }
    remove_folder();
    return failures || !tests ? EXIT_FAILURE : EXIT_SUCCESS;
}
