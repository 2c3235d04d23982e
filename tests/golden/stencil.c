/* A sweep in time around two regions of one parallel construct; a followed call. */
static double average(double left, double middle, double right)
{
    return (left + middle + right) / 3.0;
}

void smooth(int steps, int n, double *from, double *to)
{
    for (int t = 0; t < steps; t++) {
#pragma omp parallel
        {
#pragma omp for schedule(static) nowait
            for (int i = 1; i < n - 1; i++)
                to[i] = average(from[i - 1], from[i], from[i + 1]);
#pragma omp for
            for (int i = n - 2; i >= 1; --i)
                from[i] = to[i];
        }
    }
}
