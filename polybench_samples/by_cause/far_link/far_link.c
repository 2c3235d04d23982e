/* far_link: an inner product in which every thread reads the part that its
 * opposite has initialised.
 *
 * Shows the link between packages: threads of the first package work on pages
 * that those of the last have written, and the other way round, so that all
 * lines cross the link, which carries less than a package's own memory. The
 * control reads the parts as they were written. The summands are small integers,
 * so the sum is exact in every order. */
#define WORKING_SET_ARRAYS 2
#define WORKING_SET_RANK 1
#include "../../common/dataset.h"
#include "../../common/sample.h"

#ifndef N
#define N DATASET_SIZE(1000, 100000, 10000000, 40000000, 160000000)
#endif

static void init_array(int n, double a[n], double b[n])
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        a[i] = i % 7;
        b[i] = i % 5;
    }
}

static double kernel_far_link(int n, double a[n], double b[n])
{
    double sum = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += a[n - 1 - i] * b[n - 1 - i];
    return sum;
}

static double control_near(int n, double a[n], double b[n])
{
    double sum = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

int main(int argc, char **argv)
{
    int n = N;
    sample_options(argc, argv);

    double *a = sample_allocate(n, sizeof(double));
    double *b = sample_allocate(n, sizeof(double));
    init_array(n, a, b);

    double start = sample_seconds();
    double sum = kernel_far_link(n, a, b);
    double seconds = sample_seconds() - start;

    start = sample_seconds();
    double near = control_near(n, a, b);
    double control = sample_seconds() - start;

    sample_live_out("sum", &sum, 1);
    long long exact = 0;
    for (int i = 0; i < n; i++)
        exact += i % 7 * (i % 5);
    sample_check(sum == (double)exact && near == sum);
    sample_control(control);
    sample_finish(seconds);
    free(a);
    free(b);
    return 0;
}
