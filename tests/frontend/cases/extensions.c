/* regions: 2 */
#define max(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
typedef float aligned __attribute__((aligned(32)));
struct packed { char c; double d; } __attribute__((packed));
struct wide { char c; float v[4] __attribute__((aligned(16))); };
static __inline__ int __attribute__((always_inline)) twice(int i) { return 2 * i; }
static int hot(int i) __attribute__((pure));
static int hot(int i) { return i + 1; }
__extension__ typedef long long big;
void kernel(int n, double *__restrict__ a, struct packed *p, struct wide *w, volatile int *flag) {
    __asm__ volatile("" ::: "memory");
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        a[i] = max(a[i], 1.0) + twice(i) + hot(i);
        p[i].d = w[i].v[1] + sizeof(struct packed) + sizeof(struct wide);
        __asm__ __volatile__("pause" : : "r"(i));
        *flag = __builtin_expect(i == 3, 0);
    }
#pragma omp parallel for
    for (__typeof__(n) i = 0; i < n; i++)
        a[i] = (struct wide){.c = 1}.c + (big)i + __builtin_fabs(a[i]) + __builtin_sqrtf(2.0f);
}
