/* SP's initial state: exact on the six faces of the cube, blended from them inside. */
#include "fields.h"

#include "cfd_model.h"

void initialise_inside(void)
{
#pragma omp parallel for collapse(2)
    for (int m = 0; m < 5; m++)
        for (int k = 1; k < PROBLEM_SIZE - 1; k++)
            for (int j = 1; j < PROBLEM_SIZE - 1; j++)
                for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                    u[m][k][j][i] =
                        blended_component(m, coordinate(i), coordinate(j), coordinate(k));
}

void initialise_west_east(void)
{
#pragma omp parallel for collapse(2)
    for (int m = 0; m < 5; m++)
        for (int k = 0; k < PROBLEM_SIZE; k++)
            for (int j = 0; j < PROBLEM_SIZE; j++) {
                u[m][k][j][0] = exact_component(m, 0.0, coordinate(j), coordinate(k));
                u[m][k][j][PROBLEM_SIZE-1] =
                    exact_component(m, 1.0, coordinate(j), coordinate(k));
            }
}

void initialise_south_north(void)
{
#pragma omp parallel for collapse(2)
    for (int m = 0; m < 5; m++)
        for (int k = 0; k < PROBLEM_SIZE; k++)
            for (int i = 0; i < PROBLEM_SIZE; i++) {
                u[m][k][0][i] = exact_component(m, coordinate(i), 0.0, coordinate(k));
                u[m][k][PROBLEM_SIZE-1][i] =
                    exact_component(m, coordinate(i), 1.0, coordinate(k));
            }
}

void initialise_bottom_top(void)
{
#pragma omp parallel for collapse(2)
    for (int m = 0; m < 5; m++)
        for (int j = 0; j < PROBLEM_SIZE; j++)
            for (int i = 0; i < PROBLEM_SIZE; i++) {
                u[m][0][j][i] = exact_component(m, coordinate(i), coordinate(j), 0.0);
                u[m][PROBLEM_SIZE-1][j][i] =
                    exact_component(m, coordinate(i), coordinate(j), 1.0);
            }
}
