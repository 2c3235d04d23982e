/* Replays steps: each location goes on until a slot that it needs is not full.

   A slot is full when all its posts are there, and has the time of the last of them. Each step is
   visited once; the order in which locations are visited changes nothing. */

#include <stdint.h>
#include <stdlib.h>

enum { NONE = -1, NO_MEMORY = -1 };

struct replay {
    int64_t locations, slots;
    const int64_t *bounds;    /* the first step of each location, and their number */
    const int64_t *work;      /* ticks before each step */
    const int64_t *slot;
    const uint8_t *is_post;
    const int64_t *cost;      /* of a post: its port is busy; of a need: after the slot is full */
    int64_t *missing;         /* the posts that each slot lacks */
    int64_t *clock;           /* of each location: where it begins, then where it ends */
    int64_t *place;           /* the step each location has come to */
};

/* Returns how many locations did not come to their ends. */
int64_t rp_replay(struct replay *r)
{
    int64_t stuck = 0, top = 0;
    size_t locations = r->locations ? r->locations : 1, slots = r->slots ? r->slots : 1;
    int64_t *full = calloc(slots, sizeof *full);
    int64_t *waiting = malloc(slots * sizeof *waiting); /* the first location that waits */
    int64_t *next = malloc(locations * sizeof *next);   /* the next that waits for the same */
    int64_t *port = calloc(locations, sizeof *port);
    int64_t *ready = malloc(locations * sizeof *ready);
    uint8_t *arrived = calloc(locations, 1);            /* the work before `place` is done */
    if (!full || !waiting || !next || !port || !ready || !arrived) {
        stuck = NO_MEMORY;
        goto end;
    }
    for (int64_t s = 0; s < r->slots; s++)
        waiting[s] = NONE;
    for (int64_t l = 0; l < r->locations; l++) {
        r->place[l] = r->bounds[l];
        ready[top++] = l;
    }
    while (top) {
        int64_t l = ready[--top], now = r->clock[l], at = r->place[l];
        for (; at < r->bounds[l + 1]; at++) {
            int64_t s = r->slot[at];
            if (!arrived[l])
                now += r->work[at];
            arrived[l] = 0;
            if (r->is_post[at]) {
                int64_t posted = now;
                if (r->cost[at]) {
                    posted = (now > port[l] ? now : port[l]) + r->cost[at];
                    port[l] = posted;
                }
                if (posted > full[s])
                    full[s] = posted;
                if (--r->missing[s] == 0)
                    for (int64_t w = waiting[s]; w != NONE; w = next[w])
                        ready[top++] = w;
            } else {
                if (r->missing[s] > 0) {
                    next[l] = waiting[s];
                    waiting[s] = l;
                    arrived[l] = 1;
                    break;
                }
                if (full[s] + r->cost[at] > now)
                    now = full[s] + r->cost[at];
            }
        }
        r->clock[l] = now;
        r->place[l] = at;
    }
    for (int64_t l = 0; l < r->locations; l++)
        stuck += r->place[l] < r->bounds[l + 1];
end:
    free(full);
    free(waiting);
    free(next);
    free(port);
    free(ready);
    free(arrived);
    return stuck;
}
