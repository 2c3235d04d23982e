/* The least of <lapacke.h>: types and constants. */
#ifndef REGIONPREDICT_LAPACKE_H
#define REGIONPREDICT_LAPACKE_H

#include <complex.h>

#define LAPACK_ROW_MAJOR 101
#define LAPACK_COL_MAJOR 102
#ifndef lapack_int
#define lapack_int int
#endif
#define lapack_logical lapack_int
#ifndef lapack_complex_double
#define lapack_complex_float float _Complex
#define lapack_complex_double double _Complex
#endif
#define lapack_complex_float_real(z) (creal(z))
#define lapack_complex_float_imag(z) (cimag(z))
#define lapack_complex_double_real(z) (creal(z))
#define lapack_complex_double_imag(z) (cimag(z))
#define lapack_make_complex_float(re, im) ((float _Complex)((re) + (im) * I))
#define lapack_make_complex_double(re, im) ((double _Complex)((re) + (im) * I))

#endif
