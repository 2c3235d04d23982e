/* Chatzopoulos 2012, listing 4.4: the benchmark of the working set's size. */
#ifndef Ni
#define Ni 1000
#define Nj 2000
#endif

double matrixA[Ni][Nj], matrixB[Ni][Nj], matrixC[Ni][Ni], con;

void doWork() {
    int i, j, k;

#pragma omp parallel for shared(matrixA, matrixB, matrixC, con) \
                         private(i, j, k) schedule(static)
    for (i = 0; i < Ni; i++)
        for (j = 0; j < Ni; j++)
            for (k = 0; k < Nj; k++)
            {
                matrixC[i][j] += con * matrixA[i][k] * matrixB[j][k];
                matrixC[i][j] += con * matrixB[i][k] * matrixA[j][k];
            }
}
