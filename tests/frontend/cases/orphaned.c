/* regions: 2 */
static int size = 1000;
static double scale = 1.5;
int changed = 3;
extern double field[];
double field[4000];
static void work(double *a, int n) {
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++)
        a[i] *= scale;
}
void set(void) { changed = 4; }
void kernel(double *a) {
#pragma omp parallel
    work(a, size);
#pragma omp parallel for
    for (int i = 0; i < changed * size; ++i)
        field[i] = a[i];
}
