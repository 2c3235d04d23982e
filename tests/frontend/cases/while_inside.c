/* regions: 1 */
void kernel(int n, int *steps, const unsigned long *start) {
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < n; i++) {
        unsigned long v = start[i];
        int count = 0;
        while (v != 1) {
            v = v % 2 ? 3 * v + 1 : v / 2;
            count++;
            if (count > 1000)
                break;
            else
                continue;
        }
        do {
            --count;
        } while (count > 900);
        steps[i] = count;
    }
}
