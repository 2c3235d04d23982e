/* SP's forcing: minus the spatial operator of the exact solution, direction by direction. */
#include "fields.h"

#include "cfd_model.h"

void forcing_clear(void)
{
#pragma omp parallel for collapse(2)
    for (int m = 0; m < 5; m++)
        for (int k = 0; k < PROBLEM_SIZE; k++)
            for (int j = 0; j < PROBLEM_SIZE; j++)
                for (int i = 0; i < PROBLEM_SIZE; i++)
                    forcing[m][k][j][i] = 0.0;
}

void forcing_xi(void)
{
#pragma omp parallel for
    for (int k = 1; k < PROBLEM_SIZE - 1; k++)
        for (int j = 1; j < PROBLEM_SIZE - 1; j++) {
            double exact[PROBLEM_SIZE][5];
            double change[PROBLEM_SIZE][5];
            for (int i = 0; i < PROBLEM_SIZE; i++)
                for (int m = 0; m < 5; m++)
                    exact[i][m] =
                        exact_component(m, coordinate(i), coordinate(j), coordinate(k));
            line_operator(1, DIFFUSION_XI, exact, change);
            for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                for (int m = 0; m < 5; m++)
                    forcing[m][k][j][i] -= change[i][m];
        }
}

void forcing_eta(void)
{
#pragma omp parallel for
    for (int k = 1; k < PROBLEM_SIZE - 1; k++)
        for (int i = 1; i < PROBLEM_SIZE - 1; i++) {
            double exact[PROBLEM_SIZE][5];
            double change[PROBLEM_SIZE][5];
            for (int j = 0; j < PROBLEM_SIZE; j++)
                for (int m = 0; m < 5; m++)
                    exact[j][m] =
                        exact_component(m, coordinate(i), coordinate(j), coordinate(k));
            line_operator(2, DIFFUSION_ETA, exact, change);
            for (int j = 1; j < PROBLEM_SIZE - 1; j++)
                for (int m = 0; m < 5; m++)
                    forcing[m][k][j][i] -= change[j][m];
        }
}

void forcing_zeta(void)
{
#pragma omp parallel for
    for (int j = 1; j < PROBLEM_SIZE - 1; j++)
        for (int i = 1; i < PROBLEM_SIZE - 1; i++) {
            double exact[PROBLEM_SIZE][5];
            double change[PROBLEM_SIZE][5];
            for (int k = 0; k < PROBLEM_SIZE; k++)
                for (int m = 0; m < 5; m++)
                    exact[k][m] =
                        exact_component(m, coordinate(i), coordinate(j), coordinate(k));
            line_operator(3, DIFFUSION_ZETA, exact, change);
            for (int k = 1; k < PROBLEM_SIZE - 1; k++)
                for (int m = 0; m < 5; m++)
                    forcing[m][k][j][i] -= change[k][m];
        }
}
