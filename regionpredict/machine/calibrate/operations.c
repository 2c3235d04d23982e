/* Latency and throughput of scalar operations: operations SAMPLES SECONDS CPU KIND WHAT
 *
 * KIND is fp_add, fp_mul, fp_fma, fp_div or fp_sqrt, WHAT latency (a chain) or throughput (ten
 * chains side by side). A sample is the least of three turns, in ns an operation. To be compiled
 * without vectorisation. Prints nothing for fp_fma where the processor has none. */
#include "measure.h"
#include <math.h>

#if defined(__FMA__) || defined(__FP_FAST_FMA) || defined(__ARM_FEATURE_FMA)
#define HAS_FMA 1
#else
#define HAS_FMA 0
#endif

#define CHAIN(OP) x0 = OP(x0); x0 = OP(x0); x0 = OP(x0); x0 = OP(x0); x0 = OP(x0); \
                  x0 = OP(x0); x0 = OP(x0); x0 = OP(x0); x0 = OP(x0); x0 = OP(x0);
#define SIDE(OP) x0 = OP(x0); x1 = OP(x1); x2 = OP(x2); x3 = OP(x3); x4 = OP(x4); \
                 x5 = OP(x5); x6 = OP(x6); x7 = OP(x7); x8 = OP(x8); x9 = OP(x9);
#define LOOP(NAME, BODY, OP)                                                              \
    static double NAME(double y, double z, long steps) {                                  \
        double x0 = z, x1 = z, x2 = z, x3 = z, x4 = z, x5 = z, x6 = z, x7 = z, x8 = z,    \
               x9 = z;                                                                    \
        for (long i = 0; i < steps; i += 10) { BODY(OP) }                                 \
        return x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + y;                       \
    }

#define ADD(x) ((x) + y)
#define MUL(x) ((x) * y)
#define FMA(x) fma((x), y, z)
#define DIV(x) (z / (x))
#define SQRT(x) sqrt((x) + y) /* the addition keeps the operand from running to 1 */

LOOP(add_latency, CHAIN, ADD)
LOOP(add_throughput, SIDE, ADD)
LOOP(mul_latency, CHAIN, MUL)
LOOP(mul_throughput, SIDE, MUL)
#if HAS_FMA
LOOP(fma_latency, CHAIN, FMA)
LOOP(fma_throughput, SIDE, FMA)
#endif
LOOP(div_latency, CHAIN, DIV)
LOOP(div_throughput, SIDE, DIV)
LOOP(sqrt_latency, CHAIN, SQRT)
LOOP(sqrt_throughput, SIDE, SQRT)

typedef double (*loop)(double, double, long);

static volatile double used;

static double best_of(loop run, double y, double z, long steps, int turns) {
    double best = 1e30;
    for (int turn = 0; turn < turns; turn++) {
        double begin = now();
        used = run(y, z, steps);
        double spent = now() - begin;
        if (spent < best) best = spent;
    }
    return best;
}

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    int samples = atoi(argv[1]);
    pin(atoi(argv[3]));
    int latency = strcmp(argv[5], "latency") == 0;
    double y = 1.0 + 1e-16 * samples, z = 1.2345678901;
    loop run = NULL, less = NULL; /* `less` is taken off: the addition beside the square root */
    if (strcmp(argv[4], "fp_add") == 0) run = latency ? add_latency : add_throughput;
    if (strcmp(argv[4], "fp_mul") == 0) run = latency ? mul_latency : mul_throughput;
#if HAS_FMA
    if (strcmp(argv[4], "fp_fma") == 0) {
        run = latency ? fma_latency : fma_throughput;
        y = 0.5;
    }
#endif
    if (strcmp(argv[4], "fp_div") == 0) run = latency ? div_latency : div_throughput;
    if (strcmp(argv[4], "fp_sqrt") == 0) {
        run = latency ? sqrt_latency : sqrt_throughput;
        if (latency) less = add_latency;
    }
    if (run == NULL) return 0;
    long steps = 10000;
    while (best_of(run, y, z, steps, 1) < 3e-3) steps *= 2;
    double until = now() + atof(argv[2]);
    for (int i = 0; i < samples && (i == 0 || now() < until); i++) {
        double spent = best_of(run, y, z, steps, 3);
        if (less != NULL) spent -= best_of(less, y, z, steps, 3);
        sample(1e9 * spent / (double)steps);
    }
    return 0;
}
