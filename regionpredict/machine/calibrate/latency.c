/* Load latency by pointer chase:
 * latency SAMPLES SECONDS CPU BYTES LINE [foreseen|unforeseen|(apart|beside) PAGE LINES]
 *
 * The lines of a block of BYTES form one random cycle; each load needs the one before. `apart` has
 * LINES of them on each page of PAGE bytes, the system's own and no larger one; `beside` loads the
 * same lines in such an order, and no load needs another. With `foreseen` or `unforeseen` none
 * does, either: line after line, or in an order that no prefetcher knows.
 * A sample is the least of three turns, in ns a load. */
#include "measure.h"

#define LARGE ((size_t)32 << 20)

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* One cycle through the lines of a large block, written front to back in little time: a linear
 * congruence of full period (its count a power of two, its factor 1 modulo 4, its step odd). */
static void **large_chain(size_t bytes, size_t line) {
    size_t count = 1;
    while (2 * count * line <= bytes) count *= 2;
    char *block = memory(count * line);
    for (size_t i = 0; i < count; i++) {
        size_t next = (i * 6364136223846793005u + 1442695040888963407u) & (count - 1);
        *(void **)(block + i * line) = block + next * line;
    }
    return (void **)block;
}

/* Random order (Sattolo's shuffle). */
static void shuffle(char **lines, size_t count) {
    for (size_t i = count - 1; i > 0; i--) {
        size_t j = next_random() % i;
        char *swap = lines[i];
        lines[i] = lines[j];
        lines[j] = swap;
    }
}

/* One cycle through all lines, in random order. */
static void **cycle(char **lines, size_t count) {
    shuffle(lines, count);
    for (size_t i = 0; i < count; i++) *(void **)lines[i] = lines[(i + 1) % count];
    void **first = (void **)lines[0];
    free(lines);
    return first;
}

static char **places(size_t count) {
    char **lines = malloc(count * sizeof *lines);
    if (lines == NULL) exit(1);
    return lines;
}

/* All lines of a block. */
static void **chain(size_t bytes, size_t line) {
    if (bytes >= LARGE) return large_chain(bytes, line);
    size_t count = bytes / line;
    if (count < 2) count = 2;
    char *block = memory(count * line), **lines = places(count);
    for (size_t i = 0; i < count; i++) lines[i] = block + i * line;
    return cycle(lines, count);
}

/* Few lines of each page, another part of each page than of the one before, so that they spread
 * over all sets of a cache. */
static char **lines_apart(size_t count, size_t line, size_t page, size_t each) {
    size_t pages = count / each, fit = page / line;
    char *block = small_pages(pages * page), **lines = places(count);
    for (size_t i = 0; i < count; i++) {
        size_t at = i / each;
        lines[i] = block + at * page + (at * 7 + i % each) % fit * line;
    }
    return lines;
}

/* Loads of a turn: few, since other processes disturb long turns. */
#define TURN (1 << 16)

static volatile double summed;

/* One load a line, none of which needs another: in their order, or by a linear congruence. Returns
 * the line after the last one. */
static size_t independent(char *block, size_t at, size_t count, size_t line, size_t factor,
                          size_t step) {
    int sum = 0;
    for (long i = 0; i < TURN; i++) {
        sum += *(volatile char *)(block + at * line);
        at = (at * factor + step) & (count - 1);
    }
    summed = sum;
    return at;
}

/* Each turn goes on where the last one ended: no line is in a cache. */
static void by_independent_loads(int samples, double seconds, size_t bytes, size_t line,
                                 int foreseen) {
    size_t count = 1;
    while (2 * count * line <= bytes) count *= 2;
    char *block = memory(count * line);
    memset(block, 1, count * line);
    size_t factor = foreseen ? 1 : 6364136223846793005u, step = foreseen ? 1 : 1442695040888963407u;
    size_t at = 0;
    double until = now() + seconds;
    for (int i = 0; i < samples && (i == 0 || now() < until); i++) {
        double best = 1e30;
        for (int turn = 0; turn < 3; turn++) {
            double begin = now();
            at = independent(block, at, count, line, factor, step);
            double spent = now() - begin;
            if (spent < best) best = spent;
        }
        sample(1e9 * best / TURN);
    }
}

/* One load of each line, none of which needs another. */
static double beside(char **lines, size_t count) {
    int sum = 0;
    for (size_t i = 0; i < count; i++) sum += *(volatile char *)lines[i];
    return sum;
}

static void by_loads_beside(int samples, double seconds, char **lines, size_t count) {
    shuffle(lines, count);
    int rounds = (int)((1 << 18) / count) + 1;
    double until = now() + seconds;
    for (int i = 0; i < samples && (i == 0 || now() < until); i++) {
        double best = 1e30;
        for (int turn = 0; turn < 3; turn++) {
            double begin = now();
            for (int round = 0; round < rounds; round++) summed = beside(lines, count);
            double spent = now() - begin;
            if (spent < best) best = spent;
        }
        sample(1e9 * best / (double)rounds / (double)count);
    }
}

static void **chase(void **at, long steps) {
    for (long i = 0; i < steps; i += 8) {
        at = *at; at = *at; at = *at; at = *at;
        at = *at; at = *at; at = *at; at = *at;
    }
    return at;
}

int main(int argc, char **argv) {
    if (argc != 6 && argc != 7 && argc != 9) return 2;
    int samples = atoi(argv[1]);
    pin(atoi(argv[3]));
    size_t bytes = strtoull(argv[4], NULL, 10), line = strtoull(argv[5], NULL, 10);
    if (argc == 7) {
        by_independent_loads(samples, atof(argv[2]), bytes, line, strcmp(argv[6], "foreseen") == 0);
        return 0;
    }
    void **at = NULL;
    if (argc == 9) {
        size_t each = strtoull(argv[8], NULL, 10), count = bytes / line / each * each;
        char **lines = lines_apart(count, line, strtoull(argv[7], NULL, 10), each);
        if (strcmp(argv[6], "beside") == 0) {
            by_loads_beside(samples, atof(argv[2]), lines, count);
            return 0;
        }
        at = cycle(lines, count);
    } else {
        at = chain(bytes, line);
    }
    long steps = 1 << 14;
    for (;;) { /* warm up, and find how many steps take 3 ms */
        double begin = now();
        at = chase(at, steps);
        if (now() - begin > 3e-3) break;
        steps *= 2;
    }
    double until = now() + atof(argv[2]);
    for (int i = 0; i < samples && (i == 0 || now() < until); i++) {
        double best = 1e30;
        for (int turn = 0; turn < 3; turn++) {
            double begin = now();
            at = chase(at, steps);
            double spent = now() - begin;
            if (spent < best) best = spent;
        }
        sample(1e9 * best / (double)steps);
    }
    return at == (void **)&state; /* never, but the chase is used */
}
