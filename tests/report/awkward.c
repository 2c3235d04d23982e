/* One region for each thing that a report must be able to say it does not know. */
#include <stddef.h>

struct node { struct node *next; double x; };
extern void unseen(double *row, int n);
double fixed[1000];

void a_function_with_a_name_longer_than_the_column(int n, double *a, const int *index)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[index[i]] = 1.0;
}

void no_sizes(size_t rows, size_t columns, double *a)
{
#pragma omp parallel for collapse(2) schedule(dynamic, 4)
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            a[i * columns + j] = 0.0;
}

void list(struct node *head, double *a)
{
#pragma omp parallel for
    for (struct node *p = head; p; p = p->next)
        p->x = a[0];
#pragma omp parallel for
    while (head)
        head = head->next;
}

void nothing_in_it(int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        ;
}

void calls(int n, double (*a)[n])
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        unseen(a[i], n);
}

void few(void)
{
#pragma omp parallel for
    for (int i = 0; i < 3; i++)
        fixed[i] *= 2.0;
}

void waits(int n, double *a)
{
#pragma omp parallel for reduction(+ : fixed[:10])
    for (int i = 0; i < n; i++) {
        double x = a[i], y;
        while (x > 1.0)
            x *= 0.5;
        __asm__("nop" : "=x"(y) : "x"(x));
        fixed[0] += y;
    }
}

void huge(void)
{
#pragma omp parallel for
    for (long long i = 0; i < 4000000000000LL; i++)
        fixed[i % 1000] += 1.0;
}
