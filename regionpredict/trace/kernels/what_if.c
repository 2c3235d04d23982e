/* Takes time off intervals of one call path's pieces of work, each piece in proportion, so that no
   interval keeps more than it may. Intervals overlap: what one has lost counts for the next. */

#include <stdint.h>
#include <stdlib.h>

enum { NO_MEMORY = -1 };

struct tree {  /* sums of what is left; a factor of a node is still to be passed on below it */
    double *sum, *factor;
};

static void build(struct tree *t, int64_t node, int64_t low, int64_t high, const double *ticks)
{
    t->factor[node] = 1.0;
    if (high - low == 1) {
        t->sum[node] = ticks[low];
        return;
    }
    int64_t middle = (low + high) / 2;
    build(t, 2 * node, low, middle, ticks);
    build(t, 2 * node + 1, middle, high, ticks);
    t->sum[node] = t->sum[2 * node] + t->sum[2 * node + 1];
}

static void scale(struct tree *t, int64_t node, double factor)
{
    t->sum[node] *= factor;
    t->factor[node] *= factor;
}

static void pass_on(struct tree *t, int64_t node)
{
    scale(t, 2 * node, t->factor[node]);
    scale(t, 2 * node + 1, t->factor[node]);
    t->factor[node] = 1.0;
}

static double sum_of(struct tree *t, int64_t node, int64_t low, int64_t high, int64_t from,
                     int64_t to)
{
    if (to <= low || high <= from)
        return 0.0;
    if (from <= low && high <= to)
        return t->sum[node];
    pass_on(t, node);
    int64_t middle = (low + high) / 2;
    return sum_of(t, 2 * node, low, middle, from, to)
        + sum_of(t, 2 * node + 1, middle, high, from, to);
}

static void shrink(struct tree *t, int64_t node, int64_t low, int64_t high, int64_t from,
                   int64_t to, double factor)
{
    if (to <= low || high <= from)
        return;
    if (from <= low && high <= to) {
        scale(t, node, factor);
        return;
    }
    pass_on(t, node);
    int64_t middle = (low + high) / 2;
    shrink(t, 2 * node, low, middle, from, to, factor);
    shrink(t, 2 * node + 1, middle, high, from, to, factor);
    t->sum[node] = t->sum[2 * node] + t->sum[2 * node + 1];
}

static void collect(struct tree *t, int64_t node, int64_t low, int64_t high, double *left)
{
    if (high - low == 1) {
        left[low] = t->sum[node];
        return;
    }
    pass_on(t, node);
    int64_t middle = (low + high) / 2;
    collect(t, 2 * node, low, middle, left);
    collect(t, 2 * node + 1, middle, high, left);
}

/* `ticks` of each of `pieces`; interval i has the pieces `from[i]` to `to[i]` and may keep
   `most[i]` ticks; `left` is what each piece has in the end. 0, or -1 where there is no memory. */
int rp_shorten(int64_t pieces, const double *ticks, int64_t intervals, const int64_t *from,
               const int64_t *to, const double *most, double *left)
{
    if (!pieces)
        return 0;
    struct tree t = {malloc((size_t)pieces * 4 * sizeof *t.sum),
                     malloc((size_t)pieces * 4 * sizeof *t.factor)};
    if (t.sum && t.factor) {
        build(&t, 1, 0, pieces, ticks);
        for (int64_t at = 0; at < intervals; at++) {
            double sum = sum_of(&t, 1, 0, pieces, from[at], to[at]);
            if (sum > most[at])
                shrink(&t, 1, 0, pieces, from[at], to[at], most[at] / sum);
        }
        collect(&t, 1, 0, pieces, left);
    }
    int code = t.sum && t.factor ? 0 : NO_MEMORY;
    free(t.sum);
    free(t.factor);
    return code;
}
