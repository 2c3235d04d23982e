/* regions: 2 */
#define DEPTH 2
enum { SIZE = 64 };
static double cube[SIZE][SIZE][SIZE];
void kernel(void) {
#pragma omp parallel for collapse(DEPTH) schedule(dynamic, 4)
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < i; j++)
            for (int k = j; k < SIZE; k++)
                cube[i][j][k] = 2.0 * cube[i][j][k] + 1.0f;
#pragma omp parallel for collapse(1 + 2)
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++)
            for (int k = 0; k < SIZE; k++)
                cube[k][j][i] = 0;
}
