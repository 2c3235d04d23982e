/* The least of <fftw3-mpi.h>: enough to read a program, not to build one. */
#ifndef REGIONPREDICT_FFTW3_MPI_H
#define REGIONPREDICT_FFTW3_MPI_H

#include <fftw3.h>
#include <mpi.h>
#include <stddef.h>

#define FFTW_MPI_DEFAULT_BLOCK (0)
#define FFTW_MPI_SCRAMBLED_IN (1U << 27)
#define FFTW_MPI_SCRAMBLED_OUT (1U << 28)
#define FFTW_MPI_TRANSPOSED_IN (1U << 29)
#define FFTW_MPI_TRANSPOSED_OUT (1U << 30)

#define REGIONPREDICT_FFTW_MPI(X, R) \
void X##mpi_init(void); \
void X##mpi_cleanup(void); \
ptrdiff_t X##mpi_local_size(int rank, const ptrdiff_t *n, MPI_Comm comm, ptrdiff_t *local_n0, \
                            ptrdiff_t *local_0_start); \
ptrdiff_t X##mpi_local_size_2d(ptrdiff_t n0, ptrdiff_t n1, MPI_Comm comm, ptrdiff_t *local_n0, \
                               ptrdiff_t *local_0_start); \
ptrdiff_t X##mpi_local_size_3d(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, MPI_Comm comm, \
                               ptrdiff_t *local_n0, ptrdiff_t *local_0_start); \
ptrdiff_t X##mpi_local_size_3d_transposed(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, \
                                          MPI_Comm comm, ptrdiff_t *local_n0, \
                                          ptrdiff_t *local_0_start, ptrdiff_t *local_n1, \
                                          ptrdiff_t *local_1_start); \
X##plan X##mpi_plan_dft_2d(ptrdiff_t n0, ptrdiff_t n1, X##complex *in, X##complex *out, \
                           MPI_Comm comm, int sign, unsigned flags); \
X##plan X##mpi_plan_dft_3d(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, X##complex *in, \
                           X##complex *out, MPI_Comm comm, int sign, unsigned flags); \
X##plan X##mpi_plan_dft_r2c_2d(ptrdiff_t n0, ptrdiff_t n1, R *in, X##complex *out, \
                               MPI_Comm comm, unsigned flags); \
X##plan X##mpi_plan_dft_r2c_3d(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, R *in, \
                               X##complex *out, MPI_Comm comm, unsigned flags); \
X##plan X##mpi_plan_dft_c2r_2d(ptrdiff_t n0, ptrdiff_t n1, X##complex *in, R *out, \
                               MPI_Comm comm, unsigned flags); \
X##plan X##mpi_plan_dft_c2r_3d(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, X##complex *in, \
                               R *out, MPI_Comm comm, unsigned flags); \
void X##mpi_execute_dft(const X##plan p, X##complex *in, X##complex *out); \
void X##mpi_execute_dft_r2c(const X##plan p, R *in, X##complex *out); \
void X##mpi_execute_dft_c2r(const X##plan p, X##complex *in, R *out); \
void X##mpi_gather_wisdom(MPI_Comm comm); \
void X##mpi_broadcast_wisdom(MPI_Comm comm);

REGIONPREDICT_FFTW_MPI(fftw_, double)
REGIONPREDICT_FFTW_MPI(fftwf_, float)
REGIONPREDICT_FFTW_MPI(fftwl_, long double)

#endif
