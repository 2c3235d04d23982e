/* The clock with several cores at work: clock SAMPLES SECONDS CPUS [wide]
 *
 * Each thread, one to a cpu, runs a chain of exclusive-ors, one cycle each on every core known, all
 * at once, and keeps the least time of its turns: what the system or a host takes only adds to
 * one. A sample is the median of the threads, in ns a step. With `wide` there are eight chains, which
 * take all that a core has: hardware threads of one core then take turns. */
#include "measure.h"
#include <omp.h>

#define TURNS 8
#define TURN_SECONDS 5e-4

#if defined(__x86_64__) || defined(__i386__)
#define STEP(x, y) __asm__ volatile("xor %1, %0" : "+r"(x) : "r"(y))
#elif defined(__aarch64__)
#define STEP(x, y) __asm__ volatile("eor %0, %0, %1" : "+r"(x) : "r"(y))
#elif defined(__powerpc64__)
#define STEP(x, y) __asm__ volatile("xor %0, %0, %1" : "+r"(x) : "r"(y))
#else
#define STEP(x, y) __asm__ volatile("" : "+r"(x) : "r"(y)); x ^= y
#endif
#define STEP4(x, y) STEP(x, y); STEP(x, y); STEP(x, y); STEP(x, y)
#define STEP16(x, y) STEP4(x, y); STEP4(x, y); STEP4(x, y); STEP4(x, y)

static uint64_t spin(uint64_t x, uint64_t y, long steps) {
    for (long i = 0; i < steps; i += 64) {
        STEP16(x, y); STEP16(x, y); STEP16(x, y); STEP16(x, y);
    }
    return x;
}

static uint64_t spin_wide(uint64_t x, uint64_t y, long steps) {
    uint64_t a = x, b = x + 1, c = x + 2, d = x + 3, e = x + 4, f = x + 5, g = x + 6, h = x + 7;
    for (long i = 0; i < steps; i += 32) {
        STEP(a, y); STEP(b, y); STEP(c, y); STEP(d, y); STEP(e, y); STEP(f, y); STEP(g, y); STEP(h, y);
        STEP(a, y); STEP(b, y); STEP(c, y); STEP(d, y); STEP(e, y); STEP(f, y); STEP(g, y); STEP(h, y);
        STEP(a, y); STEP(b, y); STEP(c, y); STEP(d, y); STEP(e, y); STEP(f, y); STEP(g, y); STEP(h, y);
        STEP(a, y); STEP(b, y); STEP(c, y); STEP(d, y); STEP(e, y); STEP(f, y); STEP(g, y); STEP(h, y);
    }
    return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
}

static int by_size(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(int argc, char **argv) {
    uint64_t (*turns)(uint64_t, uint64_t, long) = argc == 5 ? spin_wide : spin;
    if (argc != 4 && (argc != 5 || strcmp(argv[4], "wide"))) return 2;
    int samples = atoi(argv[1]), cpus[MOST_CPUS], taken = 0, more = 1;
    double seconds = atof(argv[2]), until = 0, least[MOST_CPUS];
    int threads = read_cpus(argv[3], cpus);
    if (threads < 1) return 2;
    long steps = 1 << 14;
    uint64_t used = 0;
    pin(cpus[0]);
    for (;;) { /* warm up, and find how many steps a turn takes */
        double begin = now();
        used += turns(88172645463325252u, 3, steps);
        if (now() - begin > TURN_SECONDS) break;
        steps *= 2;
    }
    omp_set_dynamic(0);
#pragma omp parallel num_threads(threads) reduction(+ : used)
    {
        int own = omp_get_thread_num();
        pin(cpus[own]);
        while (more) {
            double best = 1e30;
#pragma omp barrier
            for (int turn = 0; turn < TURNS; turn++) {
                double begin = now();
                used += turns(used, 3, steps);
                double spent = now() - begin;
                if (spent < best) best = spent;
            }
            least[own] = best;
#pragma omp barrier
#pragma omp master
            {
                qsort(least, (size_t)threads, sizeof *least, by_size);
                if (until > 0) { /* the first round let the clocks settle */
                    sample(1e9 * least[threads / 2] / (double)steps);
                    taken++;
                } else {
                    until = now() + seconds;
                }
                if (taken >= samples || (taken > 0 && now() >= until)) more = 0;
            }
#pragma omp barrier
        }
    }
    return used == 1; /* never, but the chains are used */
}
