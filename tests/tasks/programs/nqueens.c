/* Places N queens, row by row: each place in the first DEPTH rows that no queen before threatens is
   a task. usage: nqueens N [DEPTH] */
#include <stdio.h>
#include <stdlib.h>

#define MOST 20

static int size, depth;

static int threatened(const int *columns, int row, int column)
{
    for (int before = 0; before < row; before++)
        if (columns[before] == column || abs(columns[before] - column) == row - before)
            return 1;
    return 0;
}

static long place(const int *columns, int row);

static long place_next(const int *columns, int row, int column)
{
    int mine[MOST];
    for (int i = 0; i < row; i++)
        mine[i] = columns[i];
    mine[row] = column;
    return place(mine, row + 1);
}

static long place(const int *columns, int row)
{
    long found[MOST] = {0}, sum = 0;
    if (row == size)
        return 1;
    for (int column = 0; column < size; column++) {
        if (threatened(columns, row, column))
            continue;
        if (row >= depth) {
            found[column] = place_next(columns, row, column);
            continue;
        }
#pragma omp task shared(found) firstprivate(column)
        found[column] = place_next(columns, row, column);
    }
    if (row < depth) {
#pragma omp taskwait
    }
    for (int column = 0; column < size; column++)
        sum += found[column];
    return sum;
}

int main(int count, char **words)
{
    static const long known[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596};
    int none[MOST] = {0};
    long solutions = 0;
    size = count > 1 ? atoi(words[1]) : 8;
    depth = count > 2 ? atoi(words[2]) : size;
#pragma omp parallel
#pragma omp single
    solutions = place(none, 0);
    printf("%ld\n", solutions);
    return size < 15 && solutions != known[size];
}
