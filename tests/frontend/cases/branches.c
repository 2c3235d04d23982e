/* regions: 1 */
void kernel(int n, const char *kind, double *a, const double *b) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        switch (kind[i]) {
        case 'a':
        case '\n':
            a[i] = b[i];
            break;
        case 3 ... 5:
            a[i] *= 2;
            /* falls through */
        default:
            a[i] += i > n / 2 ? b[i] : -b[n - i];
        }
        if (a[i] < 0 && b[i] != 0.0)
            a[i] = 0;
        else if (!(i & 1))
            continue;
        else
            a[i]--;
        if (a[i] > 1e30f) goto out;
    out:;
    }
}
