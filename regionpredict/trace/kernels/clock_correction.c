/* The controlled logical clock: forward amplification and backward amortisation.

   A location's events are shifted to later times where one would come before what it needs; the
   shift fades with time, and is spread over the events before, as far as nobody needs those
   earlier. Locations go on as far as what they need is known. */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { NO_MEMORY = -1, NONE = -1 };

struct clocks {
    int64_t locations, marks, slots;
    const int64_t *starts;
    int64_t *time;             /* of each event, corrected in place */
    const int64_t *first;      /* the first mark of each location, and their number */
    const int64_t *event;      /* of each mark, ascending; needs before posts at one event */
    const int64_t *slot;
    const uint8_t *is_post;
    int64_t *left;             /* posts of each slot that are still to come */
    double fade;               /* ticks by which a shift changes in one tick */
    int64_t unordered;         /* needs that could not be waited for */
};

struct place {                 /* how far a location is */
    int64_t row, mark, last;   /* last: the time of the event before, as recorded */
    double shift;
    int64_t next;              /* of the locations that wait for the same slot */
};

struct work {
    struct clocks *c;
    struct place *places;
    int64_t *latest;           /* of each slot's posts */
    int64_t *earliest;         /* of each slot's needs */
    int64_t *waiting;          /* for each slot: a location, and through `next` the others */
    int64_t *jump;             /* of each mark: how far its event was moved for its needs */
    int64_t *ready, count;     /* locations that can go on */
};

static void post(struct work *w, int64_t slot, int64_t time)
{
    if (time > w->latest[slot])
        w->latest[slot] = time;
    if (--w->c->left[slot])
        return;
    for (int64_t at = w->waiting[slot]; at != NONE; at = w->places[at].next)
        w->ready[w->count++] = at;
    w->waiting[slot] = NONE;
}

/* Goes on until the location's end, or a need that is not known; `force` passes the first one. */
static void forward(struct work *w, int64_t location, bool force)
{
    struct clocks *c = w->c;
    struct place *p = &w->places[location];
    for (; p->row < c->starts[location + 1]; p->row++) {
        int64_t recorded = c->time[p->row], last_mark = c->first[location + 1], end = p->mark;
        for (; end < last_mark && c->event[end] == p->row && !c->is_post[end]; end++)
            if (c->left[c->slot[end]] > 0) {
                if (!force) {
                    p->next = w->waiting[c->slot[end]];
                    w->waiting[c->slot[end]] = location;
                    return;
                }
                c->unordered++;
            }
        force = false;
        if (p->row > c->starts[location])
            p->shift = fmax(0, p->shift - c->fade * (double)(recorded - p->last));
        int64_t plain = recorded + (int64_t)ceil(p->shift), time = plain;
        for (int64_t at = p->mark; at < end; at++)
            if (c->left[c->slot[at]] <= 0 && w->latest[c->slot[at]] > time)
                time = w->latest[c->slot[at]];
        if (time > plain) {
            w->jump[p->mark] = time - plain;
            p->shift = (double)(time - recorded);
        }
        for (int64_t at = p->mark; at < end; at++)
            if (time < w->earliest[c->slot[at]])
                w->earliest[c->slot[at]] = time;
        p->last = recorded;
        c->time[p->row] = time;
        for (p->mark = end; p->mark < last_mark && c->event[p->mark] == p->row; p->mark++)
            post(w, c->slot[p->mark], time);
    }
}

static void backward(struct work *w, int64_t location)
{
    struct clocks *c = w->c;
    int64_t mark = c->first[location + 1], after = 0;
    double shift = 0;
    int64_t jump = 0;
    for (int64_t row = c->starts[location + 1] - 1; row >= c->starts[location]; row--) {
        int64_t time = c->time[row];
        if (row + 1 < c->starts[location + 1])
            shift = fmax(0, shift + (double)jump - c->fade * (double)(after - time - jump));
        jump = 0;
        for (; mark > c->first[location] && c->event[mark - 1] == row; mark--) {
            int64_t slot = c->slot[mark - 1];
            jump += w->jump[mark - 1];
            if (c->is_post[mark - 1] && w->earliest[slot] < INT64_MAX)
                shift = fmax(0, fmin(shift, (double)(w->earliest[slot] - time)));
        }
        c->time[row] = time + (int64_t)floor(shift);
        after = time;
    }
}

static void *make(int64_t count, size_t size) { return calloc((size_t)(count > 0 ? count : 1), size); }

/* 0, or -1 where there is no memory. */
int rp_correct(struct clocks *c)
{
    struct work w = {c, make(c->locations, sizeof *w.places), make(c->slots, 8), make(c->slots, 8),
                     make(c->slots, 8), make(c->marks, 8), make(2 * c->locations, 8), 0};
    int result = NO_MEMORY;
    if (!w.places || !w.latest || !w.earliest || !w.waiting || !w.jump || !w.ready)
        goto end;
    for (int64_t slot = 0; slot < c->slots; slot++) {
        w.latest[slot] = INT64_MIN;
        w.earliest[slot] = INT64_MAX;
        w.waiting[slot] = NONE;
    }
    for (int64_t at = 0; at < c->locations; at++) {
        w.places[at].row = c->starts[at];
        w.places[at].mark = c->first[at];
    }
    c->unordered = 0;
    for (int64_t begin = 0; begin < c->locations; begin++) {
        forward(&w, begin, false);
        while (w.count)
            forward(&w, w.ready[--w.count], false);
    }
    /* Whoever still waits does so in a circle. */
    for (bool stuck = true; stuck;) {
        stuck = false;
        for (int64_t at = 0; at < c->locations; at++)
            if (w.places[at].row < c->starts[at + 1]) {
                stuck = true;
                int64_t *link = NULL;
                for (int64_t m = w.places[at].mark;
                     m < c->first[at + 1] && c->event[m] == w.places[at].row && !link; m++)
                    if (!c->is_post[m])
                        for (int64_t *next = &w.waiting[c->slot[m]]; *next != NONE;
                             next = &w.places[*next].next)
                            if (*next == at) {
                                link = next;
                                break;
                            }
                if (link)
                    *link = w.places[at].next;
                forward(&w, at, true);
                while (w.count)
                    forward(&w, w.ready[--w.count], false);
            }
    }
    for (int64_t at = 0; at < c->locations; at++)
        backward(&w, at);
    result = 0;
end:
    free(w.places);
    free(w.latest);
    free(w.earliest);
    free(w.waiting);
    free(w.jump);
    free(w.ready);
    return result;
}
