/* Latency and throughput of scalar operations: operations SAMPLES SECONDS CPU KIND WHAT
 *
 * KIND is an arithmetic operation (fp_add, int_div, ...), `call` (a function that does nothing, by
 * its address), `store_forward` (through memory; its latency alone has a meaning) or a function of the mathematical library (exp, sin, ...); WHAT is latency (a chain)
 * or throughput (ten chains side by side). A sample is the least of three turns, in ns an
 * operation. To be compiled without vectorisation. Prints nothing for fp_fma where the processor
 * has none. */
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

/* What the compiler may not see through: it would fold x + y + y, -(-x), max(max(x, y), y). */
#if defined(__x86_64__)
#define KEPT(x) __asm__ volatile("" : "+x"(x))
#elif defined(__aarch64__)
#define KEPT(x) __asm__ volatile("" : "+w"(x))
#elif defined(__powerpc64__)
#define KEPT(x) __asm__ volatile("" : "+d"(x))
#else
#define KEPT(x) __asm__ volatile("" : "+m"(x))
#endif
#define WHOLE(x) __asm__ volatile("" : "+r"(x))

#define IN_TURN(OP, KEEP) OP(x0); KEEP(x0); OP(x0); KEEP(x0); OP(x0); KEEP(x0); OP(x0); KEEP(x0); \
                          OP(x0); KEEP(x0); OP(x0); KEEP(x0); OP(x0); KEEP(x0); OP(x0); KEEP(x0); \
                          OP(x0); KEEP(x0); OP(x0); KEEP(x0);
#define AT_ONCE(OP, KEEP) OP(x0); KEEP(x0); OP(x1); KEEP(x1); OP(x2); KEEP(x2); OP(x3); KEEP(x3); \
                          OP(x4); KEEP(x4); OP(x5); KEEP(x5); OP(x6); KEEP(x6); OP(x7); KEEP(x7); \
                          OP(x8); KEEP(x8); OP(x9); KEEP(x9);
#define PAIR_OF(NAME, TYPE, KEEP, FROM, OP, EACH)                                            \
    static double NAME##_latency(double a, double b, long steps) {                          \
        TYPE y = (TYPE)(a * FROM), z = (TYPE)(b * FROM), x0 = z;                            \
        for (long i = 0; i < steps; i += 10 * EACH) { IN_TURN(OP, KEEP) }                   \
        return (double)(x0 + y + z);                                                        \
    }                                                                                       \
    static double NAME##_throughput(double a, double b, long steps) {                       \
        TYPE y = (TYPE)(a * FROM), z = (TYPE)(b * FROM), x0 = z, x1 = z, x2 = z, x3 = z,    \
             x4 = z, x5 = z, x6 = z, x7 = z, x8 = z, x9 = z;                                \
        for (long i = 0; i < steps; i += 10 * EACH) { AT_ONCE(OP, KEEP) }                   \
        return (double)(x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + y + z);           \
    }
#define PAIR(NAME, TYPE, KEEP, FROM, OP) PAIR_OF(NAME, TYPE, KEEP, FROM, OP, 1)

#define LARGER(x) x = x > y ? x : y
#define OPPOSITE(x) x = -x
#define SUM(x) x = x + y
#define PRODUCT(x) x = x * y
#define QUOTIENT(x) x = z / x
#define EITHER(x) x = x ^ y
#define CALLED(x) x = callee(x)
#define THERE_AND_BACK(x) { int whole = (int)x; WHOLE(whole); x = (double)whole; } /* two of them */

static double nothing(double x) { return x; }
static double (*volatile address)(double) = nothing;
#define WITH_CALLEE(NAME)                                             \
    static double NAME(double y, double z, long steps) {              \
        double (*callee)(double) = address;                           \
        __asm__ volatile("" : "+r"(callee));                          \
        double x0 = z, x1 = z, x2 = z, x3 = z, x4 = z, x5 = z,        \
               x6 = z, x7 = z, x8 = z, x9 = z;                        \
        for (long i = 0; i < steps; i += 10) { BODY }                 \
        return x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + y;   \
    }
#define NOTHING_KEPT(x)

PAIR(compare, double, KEPT, 1.0, LARGER)
PAIR(negative, double, KEPT, 1.0, OPPOSITE)
PAIR_OF(convert, double, KEPT, 1.0, THERE_AND_BACK, 2)
PAIR(whole_add, unsigned, WHOLE, 1000.0, SUM)
PAIR(whole_mul, unsigned, WHOLE, 1000.0, PRODUCT)
PAIR(whole_div, unsigned, WHOLE, 1e8, QUOTIENT)
PAIR(whole_compare, int, WHOLE, 1.0, LARGER)
PAIR(whole_logic, unsigned, WHOLE, 1000.0, EITHER)
#define BODY IN_TURN(CALLED, NOTHING_KEPT)
WITH_CALLEE(call_latency)
#undef BODY
#define BODY AT_ONCE(CALLED, NOTHING_KEPT)
WITH_CALLEE(call_throughput)
#undef BODY

/* A number stored and loaded again, at an address that the core does not know by heart. */
#define FORWARDED(x) *place = *place + y
static double forward_latency(double y, double z, long steps) {
    static double memory_of_it[16];
    double *start = memory_of_it;
    __asm__ volatile("" : "+r"(start));
    volatile double *place = start;
    *place = z;
    for (long i = 0; i < steps; i += 10) { IN_TURN(FORWARDED, NOTHING_KEPT) }
    return *place;
}

/* Functions of the library on 64 arguments from 1/16 to 4 in turn. In a chain the result before
 * goes into the argument by a multiplication with almost nothing and an addition, which are taken
 * off again. */
#define ARGUMENTS 64
#define ALMOST_NOTHING 1e-280
static double arguments[ARGUMENTS];
#define ITSELF(x) (x)
#define POW(x) pow(x, 1.7)
#define HYPOT(x) hypot(x, 1.3)
#define FMOD(x) fmod(x, 0.7)
#define IN_A_CHAIN(NAME, F)                                                         \
    static double NAME##_latency(double y, double z, long steps) {                  \
        double x = z;                                                               \
        for (long i = 0; i < steps; i++)                                            \
            x = F(arguments[i % ARGUMENTS] + ALMOST_NOTHING * x);                    \
        return x + y;                                                               \
    }
#define LIBRARY(NAME, F)                                                            \
    IN_A_CHAIN(NAME, F)                                                             \
    static double NAME##_throughput(double y, double z, long steps) {               \
        double x = z;                                                               \
        for (long i = 0; i < steps; i++) x += F(arguments[i % ARGUMENTS]);           \
        return x + y;                                                               \
    }
IN_A_CHAIN(itself, ITSELF)
LIBRARY(exp, exp)
LIBRARY(exp2, exp2)
LIBRARY(log, log)
LIBRARY(log2, log2)
LIBRARY(log10, log10)
LIBRARY(sin, sin)
LIBRARY(cos, cos)
LIBRARY(tan, tan)
LIBRARY(atan, atan)
LIBRARY(pow, POW)
LIBRARY(cbrt, cbrt)
LIBRARY(hypot, HYPOT)
LIBRARY(fmod, FMOD)
LIBRARY(floor, floor)

typedef double (*loop)(double, double, long);

struct kind {
    const char *name;
    loop latency, throughput, less; /* `less` is taken off the latency */
};
#define OF(NAME, LOOP) {NAME, LOOP##_latency, LOOP##_throughput, NULL}
#define FUNCTION(NAME) {#NAME, NAME##_latency, NAME##_throughput, itself_latency}
static const struct kind kinds[] = {
    OF("fp_add", add), OF("fp_mul", mul), OF("fp_div", div),
    {"fp_sqrt", sqrt_latency, sqrt_throughput, add_latency}, /* the addition beside it */
#if HAS_FMA
    OF("fp_fma", fma),
#endif
    {"store_forward", forward_latency, forward_latency, add_latency}, /* the addition between */
    OF("fp_compare", compare), OF("fp_neg", negative),
    OF("fp_convert", convert), OF("int_add", whole_add),
    OF("int_mul", whole_mul), OF("int_div", whole_div), OF("int_logic", whole_logic),
    OF("int_compare", whole_compare), OF("call", call),
    FUNCTION(exp), FUNCTION(exp2), FUNCTION(log), FUNCTION(log2), FUNCTION(log10), FUNCTION(sin),
    FUNCTION(cos), FUNCTION(tan), FUNCTION(atan), FUNCTION(pow), FUNCTION(cbrt), FUNCTION(hypot),
    FUNCTION(fmod), FUNCTION(floor),
};

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
    loop run = NULL, less = NULL;
    for (size_t i = 0; i < ARGUMENTS; i++) arguments[i] = (double)(i + 1) / 16;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, argv[4]) != 0) continue;
        run = latency ? kinds[i].latency : kinds[i].throughput;
        less = latency ? kinds[i].less : NULL;
    }
    if (strcmp(argv[4], "fp_fma") == 0) y = 0.5;
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
