/* What FFTW's transforms do to a program's memory (manual, version 3.3.10, sec. 4.2 to 4.6). They
   are read, not built.

   A transform of n complex numbers reads and writes each of them once in each dimension, with about
   5 n log2(n) operations (the figure of FFTW's benchmarks; the loops below have 4). Arrays are read
   as real numbers: n complex ones are 2 n of them. Four independent chains overlap. */

#include <stddef.h>
#include <stdlib.h>

#define FFTW(X, R) \
struct X##plan_s { int passes; size_t numbers; R *in; R *out; }; \
typedef struct X##plan_s *X##plan; \
static X##plan X##planned(int passes, size_t numbers, R *in, R *out) \
{ \
    X##plan p = malloc(sizeof *p); \
    p->passes = passes; \
    p->numbers = numbers; \
    p->in = in; \
    p->out = out; \
    return p; \
} \
static size_t X##product(int rank, const int *n) \
{ \
    size_t all = 1; \
    for (int d = 0; d < rank; d++) \
        all *= n[d]; \
    return all; \
} \
X##plan X##plan_dft(int rank, const int *n, R *in, R *out, int sign, unsigned flags) \
{ size_t m = X##product(rank, n); return X##planned(rank, 2 * m, in, out); } \
X##plan X##plan_dft_1d(int n, R *in, R *out, int sign, unsigned flags) \
{ return X##planned(1, 2 * (size_t)n, in, out); } \
X##plan X##plan_dft_2d(int n0, int n1, R *in, R *out, int sign, unsigned flags) \
{ return X##planned(2, 2 * (size_t)n0 * n1, in, out); } \
X##plan X##plan_dft_3d(int n0, int n1, int n2, R *in, R *out, int sign, unsigned flags) \
{ return X##planned(3, 2 * (size_t)n0 * n1 * n2, in, out); } \
X##plan X##plan_dft_r2c(int rank, const int *n, R *in, R *out, unsigned flags) \
{ size_t m = X##product(rank, n); return X##planned(rank, m, in, out); } \
X##plan X##plan_dft_r2c_1d(int n, R *in, R *out, unsigned flags) \
{ return X##planned(1, (size_t)n, in, out); } \
X##plan X##plan_dft_r2c_2d(int n0, int n1, R *in, R *out, unsigned flags) \
{ return X##planned(2, (size_t)n0 * n1, in, out); } \
X##plan X##plan_dft_r2c_3d(int n0, int n1, int n2, R *in, R *out, unsigned flags) \
{ return X##planned(3, (size_t)n0 * n1 * n2, in, out); } \
X##plan X##plan_dft_c2r(int rank, const int *n, R *in, R *out, unsigned flags) \
{ size_t m = X##product(rank, n); return X##planned(rank, m, in, out); } \
X##plan X##plan_dft_c2r_1d(int n, R *in, R *out, unsigned flags) \
{ return X##planned(1, (size_t)n, in, out); } \
X##plan X##plan_dft_c2r_2d(int n0, int n1, R *in, R *out, unsigned flags) \
{ return X##planned(2, (size_t)n0 * n1, in, out); } \
X##plan X##plan_dft_c2r_3d(int n0, int n1, int n2, R *in, R *out, unsigned flags) \
{ return X##planned(3, (size_t)n0 * n1 * n2, in, out); } \
X##plan X##plan_r2r_1d(int n, R *in, R *out, int kind, unsigned flags) \
{ return X##planned(1, (size_t)n, in, out); } \
X##plan X##plan_many_dft(int rank, const int *n, int howmany, R *in, const int *inembed, \
                         int istride, int idist, R *out, const int *onembed, int ostride, \
                         int odist, int sign, unsigned flags) \
{ \
    size_t m = X##product(rank, n); \
    return X##planned(rank, 2 * m * howmany, in, out); \
} \
X##plan X##plan_many_dft_r2c(int rank, const int *n, int howmany, R *in, const int *inembed, \
                             int istride, int idist, R *out, const int *onembed, int ostride, \
                             int odist, unsigned flags) \
{ \
    size_t m = X##product(rank, n); \
    return X##planned(rank, m * howmany, in, out); \
} \
X##plan X##plan_many_dft_c2r(int rank, const int *n, int howmany, R *in, const int *inembed, \
                             int istride, int idist, R *out, const int *onembed, int ostride, \
                             int odist, unsigned flags) \
{ \
    size_t m = X##product(rank, n); \
    return X##planned(rank, m * howmany, in, out); \
} \
X##plan X##plan_many_r2r(int rank, const int *n, int howmany, R *in, const int *inembed, \
                         int istride, int idist, R *out, const int *onembed, int ostride, \
                         int odist, const int *kind, unsigned flags) \
{ \
    size_t m = X##product(rank, n); \
    return X##planned(rank, m * howmany, in, out); \
} \
X##plan X##plan_r2r(int rank, const int *n, R *in, R *out, const int *kind, unsigned flags) \
{ size_t m = X##product(rank, n); return X##planned(rank, m, in, out); } \
X##plan X##plan_r2r_2d(int n0, int n1, R *in, R *out, int kind0, int kind1, unsigned flags) \
{ return X##planned(2, (size_t)n0 * n1, in, out); } \
static void X##transform(int passes, size_t n, R *in, R *out) \
{ \
    for (int pass = 0; pass < passes; pass++) \
        for (size_t i = 0; i < n; i += 4) { \
            R a = in[i], b = in[i + 1], c = in[i + 2], d = in[i + 3]; \
            for (size_t k = 2; k < n; k *= 4) { \
                a = a * 0.5 + 0.25; b = b * 0.5 + 0.25; c = c * 0.5 + 0.25; d = d * 0.5 + 0.25; \
                a = a * 0.5 + 0.5; b = b * 0.5 + 0.5; c = c * 0.5 + 0.5; d = d * 0.5 + 0.5; \
            } \
            out[i] = a; out[i + 1] = b; out[i + 2] = c; out[i + 3] = d; \
        } \
} \
void X##execute(const X##plan p) { X##transform(p->passes, p->numbers, p->in, p->out); } \
void X##execute_dft(const X##plan p, R *in, R *out) \
{ X##transform(p->passes, p->numbers, in, out); } \
void X##execute_dft_r2c(const X##plan p, R *in, R *out) \
{ X##transform(p->passes, p->numbers, in, out); } \
void X##execute_dft_c2r(const X##plan p, R *in, R *out) \
{ X##transform(p->passes, p->numbers, in, out); } \
void X##execute_r2r(const X##plan p, R *in, R *out) \
{ X##transform(p->passes, p->numbers, in, out); }

FFTW(fftw_, double)
FFTW(fftwf_, float)
FFTW(fftwl_, long double)
