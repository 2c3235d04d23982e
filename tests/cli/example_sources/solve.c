#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double upwind_fluxes_through_the_faces_of_an_unstructured_mesh(
    int number_of_faces_of_the_mesh, const int *owner, const int *neighbour,
    const double *state, double *flux);

static double residual_norm(int n, const double *u, const double *f)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 1; i < n - 1; i++) {
        double r = f[i] - (2 * u[i] - u[i - 1] - u[i + 1]);
        sum += r * r;
    }
    return sqrt(sum);
}





/* Jacobi's method: each thread takes its rows of the new iterate, and all swap.
 *
 * The right-hand side is constant.
 */







static void relax(int n, int steps, double *u, double *v, const double *f)
{
    for (int step = 0; step < steps; step++) {
#pragma omp parallel
        {
#pragma omp for
            for (int i = 1; i < n - 1; i++) v[i] = 0.5 * (u[i - 1] + u[i + 1] + f[i]);
#pragma omp for
            for (int i = 1; i < n - 1; i++) u[i] = v[i];
        }
    }
}

int main(int argc, char **argv)
{
    const int n = 200000, steps = 20;
    int faces = argc > 1 ? atoi(argv[1]) * 10 : 20000;
    double *u = calloc(n, sizeof *u), *v = calloc(n, sizeof *v), *f = malloc(n * sizeof *f);
    if (faces > n) faces = n;
    int *owner = malloc(n * sizeof *owner), *neighbour = malloc(n * sizeof *neighbour);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        f[i] = sin(i * 0.001);
        owner[i] = (int)((i * 7919L) % n);
        neighbour[i] = (int)((i * 104729L) % n);
    }
    relax(n, steps, u, v, f);
    double largest =
        upwind_fluxes_through_the_faces_of_an_unstructured_mesh(faces, owner, neighbour, u, v);
    printf("%g %g\n", residual_norm(n, u, f), largest);
    return 0;
}
