/* regions: 2 */
#include "included_part.h"
#define NAME twice
#define FACTOR 2
#include "included_function.h"
#undef NAME
#undef FACTOR
#define NAME thrice
#define FACTOR 3
#include "included_function.h"
void kernel(int n, double *a) {
    helper(n, a);
    twice(n, a);
    thrice(n, a);
}
