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
multiply_matrices_by_rows(int ni, const double *a, const double *b, double *c)
{
#pragma omp parallel for
    for (int i = 0; i < ni; i++)
        for (int k = 0; k < ni; k++)
            for (int j = 0; j < ni; j++) c[i * ni + j] += a[i * ni + k] * b[k * ni + j];
}

int main(int argc, char **argv)
{
    int ni = argc > 1 ? atoi(argv[1]) : 300;
    if (ni > 400) ni = 400;
    double *a = allocate_matrix_of_doubles_on_all_domains(ni, ni);
    double *b = allocate_matrix_of_doubles_on_all_domains(ni, ni);
    double *c = allocate_matrix_of_doubles_on_all_domains(ni, ni);
    multiply_matrices_by_rows(ni, a, b, c);
    printf("%g\n", c[ni + 1]);
    return 0;
}
