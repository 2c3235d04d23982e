/* Chatzopoulos 2012, listing 4.2: one index of A and of B stays. */
#define Ni 200
#define Nj 300
#define Nk 400

double matrixA[Ni][Nj][Nk];
double matrixB[Ni][Nj][Nk];
double matrixC[Ni][Nj][Nk];

void doWork() {
    int i, j, k;
#pragma omp parallel for shared(matrixA, matrixB, matrixC) private(i, j, k)
    for (i = 0; i < Ni; ++i)
        for (j = 0; j < Nj; ++j)
            for (k = 0; k < Nk; ++k)
                matrixC[i][j][k] = matrixC[i][j][k] -
                    (matrixA[0][j][k] * matrixB[0][j][k]);
}
