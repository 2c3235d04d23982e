/* A pragma from a macro, clauses from macros, references and bounds through macros. */
#define OMP(directive) _Pragma(#directive)
#define CHUNK 8
#define SCHEDULE schedule(guided, CHUNK)
#define AT(a, i, j) (a)[(i) * (n) + (j)]
#define MIN(x, y) ((x) < (y) ? (x) : (y))

void band(int n, int width, double *a, const double *b)
{
    int i, j;
    OMP(omp parallel for private(j) SCHEDULE)
    for (i = 0; i < n; ++i)
        for (j = i; j < MIN(n, i + width); ++j)
            AT(a, i, j) -= AT(b, j, i);
}
