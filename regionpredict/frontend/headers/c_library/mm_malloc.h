/* The least of <mm_malloc.h>. */
#include <xmmintrin.h>
