/* The least of <fftw3.h>: enough to read a program, not to build one. */
#ifndef REGIONPREDICT_FFTW3_H
#define REGIONPREDICT_FFTW3_H

#include <stddef.h>
#include <stdio.h>

#define FFTW_FORWARD (-1)
#define FFTW_BACKWARD (+1)
#define FFTW_MEASURE (0U)
#define FFTW_DESTROY_INPUT (1U << 0)
#define FFTW_UNALIGNED (1U << 1)
#define FFTW_EXHAUSTIVE (1U << 3)
#define FFTW_PRESERVE_INPUT (1U << 4)
#define FFTW_PATIENT (1U << 5)
#define FFTW_ESTIMATE (1U << 6)
#define FFTW_WISDOM_ONLY (1U << 21)
#define FFTW_CONCAT(prefix, name) prefix##name
#define FFTW_MANGLE_DOUBLE(name) FFTW_CONCAT(fftw_, name)
#define FFTW_MANGLE_FLOAT(name) FFTW_CONCAT(fftwf_, name)
#define FFTW_MANGLE_LONG_DOUBLE(name) FFTW_CONCAT(fftwl_, name)
#define FFTW_MANGLE_QUAD(name) FFTW_CONCAT(fftwq_, name)

enum fftw_r2r_kind_do_not_use_me {
    FFTW_R2HC = 0, FFTW_HC2R = 1, FFTW_DHT = 2, FFTW_REDFT00 = 3, FFTW_REDFT01 = 4,
    FFTW_REDFT10 = 5, FFTW_REDFT11 = 6, FFTW_RODFT00 = 7, FFTW_RODFT01 = 8, FFTW_RODFT10 = 9,
    FFTW_RODFT11 = 10
};

/* As the manual has it (sec. 4.1.1): C's own complex numbers where <complex.h> came before. */
#if defined(REGIONPREDICT_COMPLEX_H) || (defined(_Complex_I) && defined(complex) && defined(I))
#define REGIONPREDICT_FFTW_COMPLEX(R, C) typedef R _Complex C
#else
#define REGIONPREDICT_FFTW_COMPLEX(R, C) typedef R C[2]
#endif

#define REGIONPREDICT_FFTW(X, R) \
REGIONPREDICT_FFTW_COMPLEX(R, X##complex); \
typedef struct X##plan_s *X##plan; \
typedef struct { int n; int is; int os; } X##iodim; \
typedef enum fftw_r2r_kind_do_not_use_me X##r2r_kind; \
void *X##malloc(size_t n); \
R *X##alloc_real(size_t n); \
X##complex *X##alloc_complex(size_t n); \
void X##free(void *p); \
int X##init_threads(void); \
void X##plan_with_nthreads(int nthreads); \
void X##cleanup_threads(void); \
void X##cleanup(void); \
void X##destroy_plan(X##plan p); \
int X##import_wisdom_from_filename(const char *name); \
int X##export_wisdom_to_filename(const char *name); \
void X##forget_wisdom(void); \
X##plan X##plan_dft(int rank, const int *n, X##complex *in, X##complex *out, int sign, \
                    unsigned flags); \
X##plan X##plan_dft_1d(int n, X##complex *in, X##complex *out, int sign, unsigned flags); \
X##plan X##plan_dft_2d(int n0, int n1, X##complex *in, X##complex *out, int sign, \
                       unsigned flags); \
X##plan X##plan_dft_3d(int n0, int n1, int n2, X##complex *in, X##complex *out, int sign, \
                       unsigned flags); \
X##plan X##plan_dft_r2c(int rank, const int *n, R *in, X##complex *out, unsigned flags); \
X##plan X##plan_dft_r2c_1d(int n, R *in, X##complex *out, unsigned flags); \
X##plan X##plan_dft_r2c_2d(int n0, int n1, R *in, X##complex *out, unsigned flags); \
X##plan X##plan_dft_r2c_3d(int n0, int n1, int n2, R *in, X##complex *out, unsigned flags); \
X##plan X##plan_many_dft_r2c(int rank, const int *n, int howmany, R *in, const int *inembed, \
                             int istride, int idist, X##complex *out, const int *onembed, \
                             int ostride, int odist, unsigned flags); \
X##plan X##plan_many_dft_c2r(int rank, const int *n, int howmany, X##complex *in, \
                             const int *inembed, int istride, int idist, R *out, \
                             const int *onembed, int ostride, int odist, unsigned flags); \
X##plan X##plan_many_r2r(int rank, const int *n, int howmany, R *in, const int *inembed, \
                         int istride, int idist, R *out, const int *onembed, int ostride, \
                         int odist, const X##r2r_kind *kind, unsigned flags); \
X##plan X##plan_r2r(int rank, const int *n, R *in, R *out, const X##r2r_kind *kind, \
                    unsigned flags); \
X##plan X##plan_r2r_2d(int n0, int n1, R *in, R *out, X##r2r_kind kind0, X##r2r_kind kind1, \
                       unsigned flags); \
X##plan X##plan_dft_c2r(int rank, const int *n, X##complex *in, R *out, unsigned flags); \
X##plan X##plan_dft_c2r_1d(int n, X##complex *in, R *out, unsigned flags); \
X##plan X##plan_dft_c2r_2d(int n0, int n1, X##complex *in, R *out, unsigned flags); \
X##plan X##plan_dft_c2r_3d(int n0, int n1, int n2, X##complex *in, R *out, unsigned flags); \
X##plan X##plan_many_dft(int rank, const int *n, int howmany, X##complex *in, \
                         const int *inembed, int istride, int idist, X##complex *out, \
                         const int *onembed, int ostride, int odist, int sign, \
                         unsigned flags); \
X##plan X##plan_r2r_1d(int n, R *in, R *out, X##r2r_kind kind, unsigned flags); \
void X##execute(const X##plan p); \
void X##execute_dft(const X##plan p, X##complex *in, X##complex *out); \
void X##execute_dft_r2c(const X##plan p, R *in, X##complex *out); \
void X##execute_dft_c2r(const X##plan p, X##complex *in, R *out);

REGIONPREDICT_FFTW(fftw_, double)
REGIONPREDICT_FFTW(fftwf_, float)
REGIONPREDICT_FFTW(fftwl_, long double)

#endif
