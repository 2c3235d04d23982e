/* regions: 1 */
#include <float.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
enum color { RED = 1, GREEN = RED << 3, BLUE, LAST = -5, NEXT };
typedef double vec4[4];
struct odd { char c; double d; short s[3]; union { int i; long double l; } u; vec4 *p; };
struct bits { unsigned a : 3; unsigned b : 30; int : 0; char c; };
void kernel(long *a, unsigned char *b, double *x, int n) {
#pragma omp parallel for
    for (int i = -2; i < LAST + 20; i++) {
        a[i + 0x10] = 'x' + '\0' + '\x7f' + '\377' + 07 + 0xFFu + 1000000007LL + GREEN + NEXT;
        a[i + sizeof(int)] = sizeof(struct odd) + sizeof(struct bits) + sizeof(vec4) + sizeof x[0];
        a[i + sizeof "abc"] = sizeof(char *[3]) + sizeof(struct odd *) + sizeof(a) + sizeof(*a);
        b[i] = INT_MAX - CHAR_BIT + UINT8_MAX + (RAND_MAX & ~0xF) + EXIT_FAILURE - -3;
        x[i] = DBL_MAX + FLT_EPSILON - 1.5e-3f + .5 + 1.L - -2.0 + 1e10 + 0x1p-3 + (float)n;
        x[n] = (uint8_t)300 + (double)(int64_t)x[i] + INT32_MIN + (n ? 1 : 2.5f);
    }
}
