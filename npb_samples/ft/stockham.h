/* One-dimensional FFT of a block of lines, Stockham's autosort form. */
#ifndef FT_STOCKHAM_H
#define FT_STOCKHAM_H

#include "ft_params.h"

/* One point of each line of a block: real parts side by side, then imaginary parts. */
typedef struct {
    double re[FFTBLOCK];
    double im[FFTBLOCK];
} point_block;

/* Registers the timer of the table's worksharing loop and fills the table; call once, first. */
void stockham_prepare(void);

/*
 * Transforms the FFTBLOCK lines of `n` points in x with exp(sign 2 pi i jk/n), unscaled; n is a
 * power of two, at most NMAX. Uses y as a second buffer, overwrites both, and returns the one
 * that holds the result in natural order.
 */
const point_block *stockham(int n, double sign, point_block *x, point_block *y);

#endif
