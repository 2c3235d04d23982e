#include <stdio.h>
#include <stdlib.h>
/* A plain matrix product, and a sweep over one vector. */
static double *allocate_matrix_of_doubles_on_all_domains(int rows, int columns)
{
    double *values = malloc((size_t)rows * columns * sizeof *values);
    if (values == NULL) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
#pragma omp parallel for
    for (int i = 0; i < rows * columns; i++) values[i] = 1.0 / (i + 1);
    return values;
}

/* The middle of a file that is longer than this:
 *
 * ...
 *
 *
 *
 *
 */







/* C += A B, by rows. */






static void
multiply_matrices_by_rows(int n, const double *a, const double *b, double *c)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 300;
    if (n > 400) n = 400;
    double *a = allocate_matrix_of_doubles_on_all_domains(n, n);
    double *b = allocate_matrix_of_doubles_on_all_domains(n, n);
    double *c = allocate_matrix_of_doubles_on_all_domains(n, n);
    multiply_matrices_by_rows(n, a, b, c);
    printf("%g\n", c[n + 1]);
    return 0;
}
