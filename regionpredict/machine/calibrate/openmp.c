/* What OpenMP's constructs cost: openmp SAMPLES SECONDS CPUS KIND
 *
 * One thread on each of CPUS (0,1,2). KIND: fork_join, an empty parallel region after a little
 * serial work; barrier; reduction, what a scalar reduction adds to a region; dynamic_chunk, atomic,
 * critical, between two of them on one thread while all threads do nothing else; first_touch, the
 * first write to 4 KiB of new memory while all threads do so, each to as many as a further argument
 * says; line_transfer, a line of cache that another core has written, to read it and to write one's
 * own again, few enough lines for the first cache; bulk_transfer, the same of many; team_change, what a region costs more where the one before
 * had half as many threads, or twice as many; first_team, what the first region of a process costs
 * more, which makes its threads. A sample is the least of three turns, in ns. */
#include "measure.h"
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE 64
#define BETWEEN (256 << 10)
#define FEW 128   /* lines of a thread in line_transfer: no first cache is smaller */
#define MANY 8192 /* lines of a thread in bulk_transfer */

static int threads, cpus[MOST_CPUS];
static volatile double sink;
static char *blocks;  /* MANY lines for each thread */
static char *between; /* BETWEEN bytes that the first thread works on */

static void bind_all(void) {
#pragma omp parallel num_threads(threads)
    pin(cpus[omp_get_thread_num()]);
}

static double fork_join(long n) {
    double begin = now();
    for (long i = 0; i < n; i++) {
#pragma omp parallel num_threads(threads)
        __asm__ volatile("" ::: "memory");
    }
    return (now() - begin) / (double)n;
}

/* What the first thread does between two regions of a program: a microsecond or two over memory
 * that no first cache holds, after which the team's own data is no longer at hand. */
static void serial_part(long turn) {
    char *from = between + (size_t)(turn % 4) * BETWEEN / 4;
    for (size_t at = 0; at < BETWEEN / 4; at += LINE) *(volatile char *)(from + at) += 1;
}

/* An empty region as a program meets it, with serial work before each. */
static double fork_join_between(long n) {
    double spent = 0, clock = now();
    for (int i = 0; i < 16; i++) (void)now();
    clock = (now() - clock) / 17;
    for (long i = 0; i < n; i++) {
        serial_part(i);
        double begin = now();
#pragma omp parallel num_threads(threads)
        __asm__ volatile("" ::: "memory");
        spent += now() - begin;
    }
    return spent / (double)n - clock;
}

/* Regions of all threads and of half of them in turn. */
static double team_change(long n) {
    int fewer = threads > 1 ? threads / 2 : 1;
    double begin = now();
    for (long i = 0; i < n; i++) {
#pragma omp parallel num_threads(i % 2 == 0 ? threads : fewer)
        __asm__ volatile("" ::: "memory");
    }
    return (now() - begin) / (double)n;
}

/* The first region of processes that begin here, one a sample: no region may have run before. */
static int first_teams(int samples, double seconds) {
    double until = now() + seconds;
    for (int i = 0; i < samples && (i == 0 || now() < until); i++) {
        pid_t child = fork();
        if (child < 0) return 1;
        if (child == 0) {
            double first = fork_join(1), later = 1e30;
            for (int turn = 0; turn < 64; turn++) {
                double spent = fork_join(1);
                if (spent < later) later = spent;
            }
            sample(1e9 * (first > later ? first - later : 1e-10));
            _exit(0);
        }
        if (waitpid(child, NULL, 0) < 0) return 1;
    }
    return 0;
}

static double region_with_sum(long n) {
    double begin = now(), sum = 0;
    for (long i = 0; i < n; i++) {
#pragma omp parallel num_threads(threads) reduction(+ : sum)
        {
            __asm__ volatile("" ::: "memory");
            sum += 1;
        }
    }
    double spent = now() - begin;
    sink = sum;
    return spent / (double)n;
}

static double barrier(long n) {
    double begin = 0, spent = 0;
#pragma omp parallel num_threads(threads)
    {
#pragma omp barrier
#pragma omp master
        begin = now();
        for (long i = 0; i < n; i++) {
#pragma omp barrier
        }
#pragma omp master
        spent = now() - begin;
    }
    return spent / (double)n;
}

static double dynamic_chunk(long n) {
    double begin = now();
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (long i = 0; i < n * threads; i++) __asm__ volatile("" ::: "memory");
    return (now() - begin) / (double)n;
}

static double atomic(long n) {
    long count = 0;
    double begin = now();
#pragma omp parallel num_threads(threads)
    for (long i = 0; i < n; i++) {
#pragma omp atomic
        count += 1;
    }
    double spent = now() - begin;
    sink = (double)count;
    return spent / (double)n;
}

static double critical(long n) {
    long count = 0;
    double begin = now();
#pragma omp parallel num_threads(threads)
    for (long i = 0; i < n; i++) {
#pragma omp critical
        count += 1;
    }
    double spent = now() - begin;
    sink = (double)count;
    return spent / (double)n;
}

/* Each thread writes once into each of its pages of a block that the system has just given. */
static double first_touch(long n) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t share = ((size_t)n * 4096 + page - 1) / page * page;
    char *block = mmap(NULL, share * (size_t)threads, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) exit(1);
    double begin = now();
#pragma omp parallel num_threads(threads)
    {
        char *own = block + share * (size_t)omp_get_thread_num();
        for (size_t at = 0; at < share; at += page) *(volatile char *)(own + at) = 1;
    }
    double spent = now() - begin;
    munmap(block, share * (size_t)threads);
    return spent * 4096 / (double)share;
}

/* Each thread writes its lines, then reads those of the thread `away` from it, until it has read
 * n of them. */
static double exchange(long n, int lines, int away) {
    long rounds = (n + lines - 1) / lines;
    double begin = 0, spent = 0;
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num();
        volatile char *own = blocks + (size_t)me * MANY * LINE;
        volatile char *other = blocks + (size_t)((me + away) % threads) * MANY * LINE;
        int sum = 0;
#pragma omp barrier
#pragma omp master
        begin = now();
        for (long i = 0; i < rounds; i++) {
            for (int k = 0; k < lines; k++) own[k * LINE] = (char)i;
#pragma omp barrier
            for (int k = 0; k < lines; k++) sum += other[k * LINE];
#pragma omp barrier
        }
#pragma omp master
        spent = now() - begin;
#pragma omp critical
        sink += sum;
    }
    return spent / (double)(rounds * lines);
}

static double line_transfer(long n) { return exchange(n, FEW, 1); }
static double own_lines(long n) { return exchange(n, FEW, 0); }
static double bulk_transfer(long n) { return exchange(n, MANY, 1); }
static double own_bulk(long n) { return exchange(n, MANY, 0); }

typedef double (*construct)(long);

static double best_of(construct run, long n) {
    double best = 1e30;
    for (int turn = 0; turn < 3; turn++) {
        double spent = run(n);
        if (spent < best) best = spent;
    }
    return best;
}

enum { REDUCTION = 2, KINDS = 10 }; /* those after REDUCTION hold one fork and join */

int main(int argc, char **argv) {
    static const char *const names[] = {"fork_join", "barrier", "reduction",
                                        "dynamic_chunk", "atomic", "critical",
                                        "first_touch", "line_transfer", "bulk_transfer",
                                        "team_change"};
    static const construct runs[] = {fork_join_between, barrier, region_with_sum,
                                     dynamic_chunk, atomic, critical,
                                     first_touch, line_transfer, bulk_transfer,
                                     team_change};
    if (argc != 5 && argc != 6) return 2;
    int samples = atoi(argv[1]), kind = 0;
    threads = read_cpus(argv[3], cpus);
    if (threads > 0 && strcmp(argv[4], "first_team") == 0) {
        omp_set_dynamic(0);
        return first_teams(samples, atof(argv[2]));
    }
    while (kind < KINDS && strcmp(names[kind], argv[4]) != 0) kind++;
    if (kind == KINDS || threads < 1) return 2;
    omp_set_dynamic(0);
    bind_all();
    blocks = memory((size_t)threads * MANY * LINE);
    between = memory(BETWEEN);
    construct run = runs[kind];
    long given = argc == 6 ? atol(argv[5]) : 0, n = given > 0 ? given : 16;
    while (!given && best_of(run, n) * (double)n < 2e-3 && n < (1L << 24)) n *= 2;
    double until = now() + atof(argv[2]);
    for (int i = 0; i < samples && (i == 0 || now() < until); i++) {
        double spent = best_of(run, n);
        if (run == region_with_sum || run == team_change) spent -= best_of(fork_join, n);
        else if (run == line_transfer) spent -= best_of(own_lines, n);
        else if (run == bulk_transfer) spent -= best_of(own_bulk, n);
        else if (kind > REDUCTION) spent -= best_of(fork_join, 64) / (double)n;
        sample(1e9 * (spent > 0 ? spent : 1e-10));
    }
    return 0;
}
