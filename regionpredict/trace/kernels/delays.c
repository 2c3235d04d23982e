/* Delay costs and the critical path, by replaying the synchronisation points backwards
   (Boehme 2014, sections 4.2, 4.3 and 5.3).

   The time of call paths between two points is a sum over entries (node, ticks) that a walk over
   the events leaves behind, with the waits taken off as entries of their own; sums of every few
   entries shorten long intervals. What a wait costs others later on is known when the replay comes
   to it: of each location, the intervals are kept that reach across the present point. */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ENTER, LEAVE, JOIN = 15 };
enum { NO_MEMORY = -1, NONE = -1, NOT_YET = -2, NOBODY = -2, CLASSES = 9, LAST_PROPAGATING = 7, SMALL_GROUP = 256, MOST_USED = 64,
       MOST_EVENTS_AT_ONCE = 1 << 24 };
enum { LATE_SENDER, LATE_RECEIVER };

struct replay {
    int64_t locations, nodes, points, ranks, groups;
    const int64_t *starts, *time;
    const uint8_t *kind;
    const int32_t *event_node, *parent, *rank;  /* rank of each location */
    const int64_t *first;          /* the first point of each location, and their number */
    const int64_t *event, *wait, *total, *completion, *cause;
    const int32_t *location, *node, *partner, *group, *members;
    const uint8_t *wait_kind, *is_team;
    const int64_t *group_first;    /* members of groups: positions in group_members */
    const int32_t *group_members;
    int64_t end;                   /* the point at which the critical path ends, -1: none */
    int64_t end_location;          /* where it ends then */
    double *short_term, *long_term; /* CLASSES x locations x nodes */
    double *explained, *indirect;  /* of each point */
    double *propagating, *propagating_messages;  /* to all, and to late senders and receivers */
    int64_t *path;                 /* ticks on the critical path: locations x nodes */
    int64_t *segment_from, *segment_to;  /* of the path, last first: times */
    int32_t *segment_location;
    int64_t segments;
    double lost;                   /* costs that reach waits without a cause, ticks */
    double left_out;               /* costs of waits that the reference charges to nobody, ticks */
    int64_t unordered;             /* waits that cannot be put in order */
    void (*rest)(void);            /* called where columns are not needed for a while */
};

struct scales {  /* in a list, by position: of an interval, or the costs of a wait */
    int32_t next;
    double of[CLASSES];
};

struct maximum {
    int64_t left;
    double scale;
};

struct maxima {  /* those that no other outlives with a larger scale, the longest first */
    struct maximum *of;
    int64_t room, used;
};

struct active {  /* of one location */
    double scale[CLASSES];
    int64_t count;
    struct maxima all, messages;
};

struct work {  /* points are counted in 32 bits: memory is what limits a replay */
    struct replay *r;
    int32_t *entry_node;
    int64_t *entry_ticks, entries;
    int64_t *entry;      /* of each point: entries before it */
    int64_t *entry_first; /* of each location, and the end of the last */
    int64_t *reached;    /* of each point: the time up to which its entries go */
    int64_t step;        /* entries of one checkpoint */
    int64_t *sums;       /* checkpoints x nodes */
    int64_t *waited;     /* of each point: waits before it on its location */
    int32_t *before_wait, *before_cause; /* previous points, by the waiting point */
    int32_t *charged;    /* by the waiting point: waits after this one of the late side pay for it */
    int32_t *waiter_first, *waiters;
    int32_t *costs;      /* of each waiting point, in `scales`; NOT_YET: it is still to come */
    int32_t *expires;    /* of each point: intervals that begin there, in `scales` */
    struct scales *scales;
    int32_t scales_room, scales_used, scales_free;
    struct active *active;
    int64_t *mine, *theirs;  /* scratch: ticks by node */
    int32_t *my_nodes, *their_nodes;
    uint8_t *my_mark, *their_mark;
};

static void *make(int64_t count, size_t size) { return calloc((size_t)(count > 0 ? count : 1), size); }

#include "delay_entries.h"
#include "delay_previous.h"

static bool list_waiters(struct work *w)
{
    struct replay *r = w->r;
    w->waiter_first = make(r->points + 2, 4);
    if (!w->waiter_first)
        return false;
    for (int64_t point = 0; point < r->points; point++)
        if (r->wait[point] > 0 && r->cause[point] >= 0)
            w->waiter_first[r->cause[point] + 2]++;
    for (int64_t point = 0; point < r->points; point++)
        w->waiter_first[point + 2] += w->waiter_first[point + 1];
    w->waiters = make(w->waiter_first[r->points + 1], 4);
    if (!w->waiters)
        return false;
    for (int64_t point = 0; point < r->points; point++)
        if (r->wait[point] > 0 && r->cause[point] >= 0)
            w->waiters[w->waiter_first[r->cause[point] + 1]++] = (int32_t)point;
    return true;
}

/* ---- intervals that reach across the present point ---- */

static bool keep_maximum(struct maxima *maxima, int64_t before, double scale)
{
    int64_t at = maxima->used;
    while (at > 0 && maxima->of[at - 1].left > before)
        at--;
    if (at > 0 && maxima->of[at - 1].left == before && maxima->of[at - 1].scale < scale)
        at--;
    else if (at > 0 && maxima->of[at - 1].scale >= scale)
        return true;
    int64_t end = at;
    while (end < maxima->used && maxima->of[end].scale <= scale)
        end++;
    if (maxima->used + 1 > maxima->room) {
        int64_t room = maxima->room ? maxima->room * 2 : 16;
        struct maximum *more = realloc(maxima->of, (size_t)room * sizeof *more);
        if (!more)
            return false;
        maxima->of = more;
        maxima->room = room;
    }
    memmove(maxima->of + at + 1, maxima->of + end,
            (size_t)(maxima->used - end) * sizeof *maxima->of);
    maxima->of[at] = (struct maximum){before, scale};
    maxima->used += at + 1 - end;
    return true;
}

/* What part of a wait at the point is handed on at most. */
static double most(const struct maxima *maxima)
{
    return maxima->used ? fmin(maxima->of[maxima->used - 1].scale, 1.0) : 0.0;
}

static void forget_maxima(struct maxima *maxima, int64_t point)
{
    while (maxima->used && maxima->of[maxima->used - 1].left >= point)
        maxima->used--;
}

/* The position of free scales, or -1 where there is no memory. */
static int32_t new_scales(struct work *w, const double *of)
{
    int32_t slot = w->scales_free;
    if (slot >= 0) {
        w->scales_free = w->scales[slot].next;
    } else {
        if (w->scales_used == w->scales_room) {
            int32_t room = w->scales_room ? w->scales_room + w->scales_room / 2 : 1024;
            struct scales *more = realloc(w->scales, (size_t)room * sizeof *more);
            if (!more)
                return NO_MEMORY;
            w->scales = more;
            w->scales_room = room;
        }
        slot = w->scales_used++;
    }
    memcpy(w->scales[slot].of, of, sizeof w->scales[slot].of);
    return slot;
}

static void free_scales(struct work *w, int32_t slot)
{
    w->scales[slot].next = w->scales_free;
    w->scales_free = slot;
}

static bool activate(struct work *w, int64_t location, int64_t before, int64_t charged,
                     const double *scale, double direct, bool message)
{
    struct active *active = &w->active[location];
    if (charged != NOBODY) {
        active->count++;
        for (int at = 0; at < CLASSES; at++)
            active->scale[at] += scale[at];
    }
    if (charged >= 0) {
        int32_t slot = new_scales(w, scale);
        if (slot < 0)
            return false;
        w->scales[slot].next = w->expires[charged];
        w->expires[charged] = slot;
    }
    return keep_maximum(&active->all, before, direct)
        && (!message || keep_maximum(&active->messages, before, direct));
}

static void expire(struct work *w, int64_t location, int64_t point)
{
    struct active *active = &w->active[location];
    while (w->expires[point] >= 0) {
        int32_t slot = w->expires[point];
        w->expires[point] = w->scales[slot].next;
        for (int at = 0; at < CLASSES; at++)
            active->scale[at] -= w->scales[slot].of[at];
        free_scales(w, slot);
        active->count--;
    }
    if (!active->count)
        memset(active->scale, 0, sizeof active->scale);
    for (int at = 0; at < CLASSES; at++)
        if (active->scale[at] < 0)
            active->scale[at] = 0;
    forget_maxima(&active->all, point);
    forget_maxima(&active->messages, point);
}

/* ---- one wait, and what caused it ---- */

/* Waits of a location up to a point, and with it. */
static int64_t waited_until(const struct work *w, int64_t point)
{
    return point < 0 ? 0 : w->waited[point] + w->r->wait[point];
}

static bool resolve(struct work *w, int64_t waiter)
{
    struct replay *r = w->r;
    double costs[CLASSES] = {0};
    if (w->costs[waiter] >= 0) {
        memcpy(costs, w->scales[w->costs[waiter]].of, sizeof costs);
        free_scales(w, w->costs[waiter]);
    }
    int64_t cause = r->cause[waiter], before = w->before_cause[waiter];
    int64_t location = r->location[cause];
    int kind = r->wait_kind[waiter];
    struct collected theirs = {w->theirs, w->their_nodes, w->their_mark, 0};
    struct collected mine = {w->mine, w->my_nodes, w->my_mark, 0};
    interval_times(w, before, cause, &theirs);
    interval_times(w, w->before_wait[waiter], waiter, &mine);
    int64_t delay = 0;
    for (int64_t at = 0; at < theirs.count; at++) { /* equation 4.2 */
        int32_t node = theirs.nodes[at];
        int64_t excess = theirs.ticks[node] - (mine.mark[node] ? mine.ticks[node] : 0);
        theirs.ticks[node] = excess > 0 ? excess : 0;
        delay += theirs.ticks[node];
    }
    int64_t waited = w->waited[cause] - waited_until(w, before);
    bool fine = true;
    if (delay + waited > 0) {
        double sum = (double)(delay + waited), direct = (double)r->wait[waiter] / sum;
        if ((kind == LATE_SENDER || kind == LATE_RECEIVER) && direct > 1.0)
            direct = 1.0;
        double scale[CLASSES];
        for (int at = 0; at < CLASSES; at++)
            scale[at] = costs[at] / sum;
        for (int64_t at = 0; at < theirs.count; at++) {
            int32_t node = theirs.nodes[at];
            double ticks = (double)theirs.ticks[node];
            if (ticks <= 0)
                continue;
            int64_t cell = location * r->nodes + node, plane = r->locations * r->nodes;
            r->short_term[kind * plane + cell] += direct * ticks;
            for (int x = 0; x < CLASSES; x++)
                if (scale[x] > 0)
                    r->long_term[x * plane + cell] += scale[x] * ticks;
        }
        r->explained[waiter] = direct * sum;
        r->indirect[waiter] = direct * (double)waited;
        scale[kind] += direct;
        int64_t charged = w->charged[waiter];
        int64_t waits = waited; /* of those that are left out */
        if (charged != NOBODY)
            waits = charged < 0 ? 0 : w->waited[charged + 1] - waited_until(w, before);
        for (int at = 0; at < CLASSES; at++)
            r->left_out += scale[at] * (double)waits;
        if (waited)
            fine = activate(w, location, before, charged, scale,
                            kind <= LAST_PROPAGATING ? direct : 0.0,
                            kind == LATE_SENDER || kind == LATE_RECEIVER);
    } else {
        for (int at = 0; at < CLASSES; at++)
            r->lost += costs[at];
    }
    forget(&theirs);
    forget(&mine);
    return fine;
}

/* Goes back over every location, which stops where a waiting location is not yet there. */
static bool replay_backwards(struct work *w)
{
    struct replay *r = w->r;
    int64_t *cursor = make(r->locations, 8), *ready = make(r->locations, 8), count = 0;
    int32_t *missing = make(r->points, 4);
    uint8_t *queued = make(r->locations, 1);
    bool fine = cursor && missing && ready && queued;
    for (int64_t point = 0; fine && point < r->points; point++)
        missing[point] = w->waiter_first[point + 1] - w->waiter_first[point];
    for (int64_t location = 0; fine && location < r->locations; location++) {
        cursor[location] = r->first[location + 1] - 1;
        ready[count++] = location;
        queued[location] = 1;
    }
    while (fine) {
        if (!count) { /* all wait for each other: times that contradict the messages */
            int64_t stuck = NONE;
            for (int64_t at = 0; at < r->locations; at++)
                if (cursor[at] >= r->first[at]
                    && (stuck < 0 || w->reached[cursor[at]] > w->reached[cursor[stuck]]))
                    stuck = at;
            if (stuck < 0)
                break;
            r->unordered += missing[cursor[stuck]];
            missing[cursor[stuck]] = 0;
            ready[count++] = stuck;
            queued[stuck] = 1;
        }
        int64_t location = ready[--count];
        queued[location] = 0;
        for (; fine && cursor[location] >= r->first[location]; cursor[location]--) {
            int64_t point = cursor[location];
            if (missing[point])
                break;
            for (int64_t at = w->waiter_first[point]; at < w->waiter_first[point + 1]; at++) {
                int64_t waiter = w->waiters[at];
                if (w->costs[waiter] != NOT_YET && !resolve(w, waiter)) {
                    fine = false;
                    break;
                }
            }
            expire(w, location, point);
            if (r->wait[point] > 0) {
                struct active *active = &w->active[location];
                double costs[CLASSES];
                bool costly = false;
                for (int at = 0; at < CLASSES; at++) {
                    costs[at] = active->scale[at] * (double)r->wait[point];
                    costly |= costs[at] > 0;
                }
                r->propagating[point] = most(&active->all) * (double)r->wait[point];
                r->propagating_messages[point]
                    = most(&active->messages) * (double)r->wait[point];
                w->costs[point] = NONE;
                int64_t cause = r->cause[point];
                if (cause < 0 || !missing[cause])
                    for (int at = 0; at < CLASSES; at++)
                        r->lost += costs[at];
                else if (costly)
                    fine = (w->costs[point] = new_scales(w, costs)) >= 0;
                if (cause >= 0 && missing[cause] && !--missing[cause]) {
                    int64_t other = r->location[cause];
                    if (cursor[other] == cause && !queued[other]) {
                        ready[count++] = other;
                        queued[other] = 1;
                    }
                }
            }
        }
    }
    free(cursor);
    free(missing);
    free(ready);
    free(queued);
    return fine;
}

/* ---- the critical path ---- */

/* The time of a point. The time of a team's region counts from the fork on. */
static int64_t moment(const struct work *w, int64_t point)
{
    const struct replay *r = w->r;
    bool fork = r->is_team[point] && r->kind[r->event[point]] == ENTER;
    return w->reached[point] - (fork ? r->total[point] : 0);
}

static void add_segment(struct work *w, int64_t location, int64_t begin, int64_t end)
{
    struct replay *r = w->r;
    struct collected c = {w->mine, w->my_nodes, w->my_mark, 0};
    int64_t from = begin < 0 ? w->entry_first[location]
                             : w->entry[begin] + (r->wait[begin] != 0);
    int64_t to = end < 0 ? w->entry_first[location + 1] : w->entry[end];
    if (from < to)
        gather(w, from, to, &c);
    for (int64_t at = 0; at < c.count; at++)
        r->path[location * r->nodes + c.nodes[at]] += c.ticks[c.nodes[at]];
    if (begin >= 0 && c.mark[r->node[begin]]) {
        int64_t ticks = c.ticks[r->node[begin]];
        r->path[location * r->nodes + r->node[begin]]
            -= ticks < r->wait[begin] ? ticks : r->wait[begin];
    }
    forget(&c);
    int64_t first = r->starts[location], last = r->starts[location + 1] - 1;
    r->segment_location[r->segments] = (int32_t)location;
    r->segment_from[r->segments] = begin < 0 ? (last >= first ? r->time[first] : 0)
                                             : moment(w, begin) + r->wait[begin];
    r->segment_to[r->segments++] = end < 0 ? (last >= first ? r->time[last] : 0) : moment(w, end);
}

/* Follows it backwards; `starts_at` says for each point whether the path may begin there. */
static void follow_path(struct work *w, const uint8_t *starts_at)
{
    struct replay *r = w->r;
    int64_t end = r->end, location = end >= 0 ? r->location[end] : r->end_location;
    int64_t at = end >= 0 ? end - 1 : r->first[location + 1] - 1;
    for (int64_t steps = 0; steps <= r->points; steps++) {
        while (at >= r->first[location] && !starts_at[at]
               && !(r->cause[at] >= 0 && (r->wait[at] > 0 || r->is_team[at])))
            at--;
        if (at < r->first[location]) {
            add_segment(w, location, NONE, end);
            return;
        }
        add_segment(w, location, at, end);
        if (starts_at[at])
            return;
        end = r->cause[at];
        location = r->location[end];
        at = end - 1;
    }
}

/* 0, or -1 where there is no memory. */
int rp_replay(struct replay *r, const uint8_t *starts_at)
{
    struct work w = {.r = r, .scales_free = NONE};
    int64_t points = r->points;
    w.entry = make(points, 8);
    w.entry_first = make(r->locations + 1, 8);
    w.reached = make(points, 8);
    w.waited = make(points, 8);
    w.before_wait = make(points, 4);
    w.before_cause = make(points, 4);
    w.charged = make(points, 4);
    w.expires = make(points, 4);
    w.costs = make(points, 4);
    w.active = make(r->locations, sizeof *w.active);
    w.mine = make(r->nodes, 8);
    w.theirs = make(r->nodes, 8);
    w.my_nodes = make(r->nodes, 4);
    w.their_nodes = make(r->nodes, 4);
    w.my_mark = make(r->nodes, 1);
    w.their_mark = make(r->nodes, 1);
    bool fine = w.entry && w.entry_first && w.reached && w.waited && w.before_wait
        && w.before_cause && w.charged && w.expires && w.costs && w.active && w.mine && w.theirs && w.my_nodes
        && w.their_nodes && w.my_mark && w.their_mark;
    for (int64_t at = 0; fine && at < points; at++) {
        w.before_wait[at] = w.before_cause[at] = w.charged[at] = w.expires[at] = NONE;
        w.costs[at] = NOT_YET;
    }
    fine = fine && lay_entries(&w);
    r->rest(); /* events */
    fine = fine && lay_sums(&w) && list_waiters(&w) && find_previous(&w);
    r->rest(); /* of points, whom they met */
    fine = fine && replay_backwards(&w);
    if (fine)
        follow_path(&w, starts_at);
    for (int64_t at = 0; w.active && at < r->locations; at++) {
        free(w.active[at].all.of);
        free(w.active[at].messages.of);
    }
    void *used[] = {w.costs, w.entry, w.entry_first, w.reached, w.waited, w.before_wait,
                    w.before_cause, w.charged, w.expires, w.active, w.mine, w.theirs, w.my_nodes,
                    w.their_nodes, w.my_mark, w.their_mark, w.entry_node, w.entry_ticks, w.sums,
                    w.waiter_first, w.waiters, w.scales};
    for (size_t at = 0; at < sizeof used / sizeof *used; at++)
        free(used[at]);
    return fine ? 0 : NO_MEMORY;
}
