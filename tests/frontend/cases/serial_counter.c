/* regions: 2 */
#define Ni 60
#define Nj 80
double flat[Ni * Nj], rows[Ni][Nj];
void by_one_counter(void) {
    int i, j;
    int count = -1;
#pragma omp parallel for private(j) firstprivate(count)
    for (i = 0; i < Ni; i++)
        for (j = 0; j < Nj; j++) {
            count++;
            flat[count] += i + j;
        }
}
void by_two_subscripts(void) {
    int i, j;
    int count = -1;
#pragma omp parallel for private(j) firstprivate(count)
    for (i = 0; i < Ni; i++)
        for (j = 0; j < Nj; j++) {
            count++;
            rows[i][j] += i + j;
        }
}
