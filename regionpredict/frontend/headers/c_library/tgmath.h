/* The least of <tgmath.h>: the functions for double stand for all types. */
#include <complex.h>
#include <math.h>
