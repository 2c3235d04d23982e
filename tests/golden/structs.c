/* Members through pointers, an array of structs, a struct's own array, a row by its address. */
#define CELLS 64

struct cell {
    double mass;
    double flux[6];
};

struct grid {
    int n;
    struct cell *cells;
    double *pressure;
};

double total;

void update(struct grid *g, double (*rows)[CELLS])
{
#pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < g->n; i++) {
        double *row = rows[i];
        g->cells[i].mass += g->pressure[i];
        for (int f = 0; f < 6; f++)
            total += g->cells[i].flux[f] * row[f];
    }
}
