/* The least of <x86intrin.h>: what every x86-64 has, SSE2. */
#include <emmintrin.h>
