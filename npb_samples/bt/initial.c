/* BT's initial state: exact on the six faces of the cube, blended from them inside. */
#include "fields.h"

#include "cfd_model.h"

void initialise(void)
{
#pragma omp parallel
    {
#pragma omp for
        for (int k = 1; k < PROBLEM_SIZE - 1; k++)
            for (int j = 1; j < PROBLEM_SIZE - 1; j++)
                for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                    for (int m = 0; m < 5; m++)
                        u[k][j][i][m] =
                            blended_component(m, coordinate(i), coordinate(j), coordinate(k));

        /* west and east */
#pragma omp for
        for (int k = 0; k < PROBLEM_SIZE; k++)
            for (int j = 0; j < PROBLEM_SIZE; j++)
                for (int m = 0; m < 5; m++) {
                    u[k][j][0][m] = exact_component(m, 0.0, coordinate(j), coordinate(k));
                    u[k][j][PROBLEM_SIZE - 1][m] =
                        exact_component(m, 1.0, coordinate(j), coordinate(k));
                }

        /* south and north */
#pragma omp for
        for (int k = 0; k < PROBLEM_SIZE; k++)
            for (int i = 0; i < PROBLEM_SIZE; i++)
                for (int m = 0; m < 5; m++) {
                    u[k][0][i][m] = exact_component(m, coordinate(i), 0.0, coordinate(k));
                    u[k][PROBLEM_SIZE - 1][i][m] =
                        exact_component(m, coordinate(i), 1.0, coordinate(k));
                }

        /* bottom and top */
#pragma omp for
        for (int j = 0; j < PROBLEM_SIZE; j++)
            for (int i = 0; i < PROBLEM_SIZE; i++)
                for (int m = 0; m < 5; m++) {
                    u[0][j][i][m] = exact_component(m, coordinate(i), coordinate(j), 0.0);
                    u[PROBLEM_SIZE - 1][j][i][m] =
                        exact_component(m, coordinate(i), coordinate(j), 1.0);
                }
    }
}
