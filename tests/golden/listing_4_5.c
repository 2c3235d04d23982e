/* Chatzopoulos 2012, listing 4.5: the matrix along its rows. */
#define N 5000

double matrixA[N][N], matrixB[N], matrixC[N];

void doWork() {
    int i, j;

#pragma omp parallel for shared(matrixA, matrixB, matrixC) \
                         private(i, j) schedule(static)
    for (i = 0; i < N; i++)
        for (j = 0; j < N; j++)
            matrixC[i] = matrixC[i] + matrixA[i][j] * matrixB[j];
}
