/* Sides of an if, a switch, a value that only one side sets, an early exit, a critical section. */
int found;

void search(int n, const int *key, const int *list, double *a)
{
#pragma omp parallel for schedule(dynamic, 16)
    for (int i = 0; i < n; i++) {
        int place = i;
        if (key[i] < 0)
            place = 0;
        else
            a[i] = 1.0;
        a[place] = 2.0;
        for (int j = 0; j < n; j += 4) {
            if (list[j] == key[i]) {
#pragma omp critical
                found++;
                break;
            }
        }
    }
}
