/* regions: 2 */
int n = 7;
typedef int T;
struct s { int a; };
void kernel(double *a, int T) {
    int i = 5, m = T;
    {
        int n = 3;
        typedef float real;
        struct s { double b[2]; } s;
        real r = 1;
#pragma omp parallel for
        for (int i = 0; i < n; i++) {
            int m = i;
            s.b[0] = m + r;
            a[m] = s.b[0];
        }
    }
    struct s s = {1};
#pragma omp parallel for
    for (i = 0; i < n; i++) {
        a[i] = s.a + m;
    }
}
