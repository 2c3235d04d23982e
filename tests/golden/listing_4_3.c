/* Chatzopoulos 2012, listing 4.3: C hits, A hits, B misses. */
#define Ni 1000
#define Nj 2000
#define Nk 3000

double matrixA[Ni][Nk];
double matrixB[Nj][Nk];
double matrixC[Ni][Nj];

void doWork() {
    int i, j, k;
#pragma omp parallel for shared(matrixA, matrixB, matrixC) private(i, j, k)
    for (i = 0; i < Ni; ++i)
        for (j = 0; j < Nj; ++j)
            for (k = 0; k < Nk; ++k)
                matrixC[i][j] = (matrixA[i][k] * matrixB[j][k]);
}
