/* regions: 3 */
#include <stdlib.h>
typedef struct { double x, y, z; int id; } Point;
struct grid { int nx, ny; double *cell; struct { float *row; unsigned flag : 3, mode : 5; } part; };
typedef struct list { struct list *next; Point at[4]; } List;
void kernel(struct grid *g, Point *p, List **heads, const struct grid whole) {
#pragma omp parallel for
    for (int i = 0; i < g->nx; i++) {
        g->cell[i * g->ny] = p[i].x + p[i].z * whole.nx;
        p[i].id = g->part.flag;
    }
#pragma omp parallel for
    for (int i = 0; i < whole.ny; i++)
        g->part.row[i] += (float)heads[i]->at[2].y + (*heads[i]).next->at[i % 4].x;
#pragma omp parallel for
    for (size_t i = 0; i < sizeof(struct grid); i++)
        (p + i)->y = (&p[i])->x;
}
