/* regions: 2 */
#define N 8
void kernel(int n, int m, double *restrict data, double out[const]) {
    double (*grid)[m][2 * m + 1] = (double (*)[m][2 * m + 1])data;
    static double table[N][N * 2];
    const int k = 4;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double buffer[N], sums[k], line[m], pair[] = {1.0, 2.0}, point[3] = {[1] = 5};
        char text[] = "four", name[N + 1];
        for (int j = 0; j < N; j++)
            buffer[j] = grid[i][j][0] * table[j][i % N];
        for (int j = 0; j < m; j++)
            line[j] = buffer[j % N] + pair[j & 1] + point[j % 3];
        sums[i % k] = line[0];
        name[0] = text[i % 4];
        out[i] = sums[0] + name[0];
    }
    int o = m + 1;
    double square[o][o];
#pragma omp parallel for
    for (int i = 0; i < o; i++)
        for (int j = 0; j < o; j++)
            square[i][j] = i == j;
}
