/* The points at which locations met before. Part of delays.c, behind its structures. */

struct last_points {
    int64_t *of_rank, *of_group;
    int64_t *used;  /* large groups that the location has met */
    int64_t used_count;
    uint8_t *member;  /* large groups x ranks */
};

static int64_t previous(const struct last_points *l, const struct replay *r, int32_t rank)
{
    int64_t found = l->of_rank[rank];
    for (int64_t at = 0; at < l->used_count; at++) {
        int64_t group = l->used[at];
        if (l->of_group[group] > found && l->member[group * r->ranks + rank])
            found = l->of_group[group];
    }
    return found;
}

static void note(struct last_points *l, const struct replay *r, int64_t point)
{
    int32_t group = r->group[point];
    if (r->partner[point] >= 0)
        l->of_rank[r->partner[point]] = point;
    if (group < 0)
        return;
    int64_t first = r->group_first[group], end = r->group_first[group + 1];
    bool met = l->of_group[group] != NONE;
    if (end - first > SMALL_GROUP && l->member && (met || l->used_count < MOST_USED)) {
        if (!met)
            l->used[l->used_count++] = group;
        l->of_group[group] = point;
        return;
    }
    for (int64_t at = first; at < end; at++)
        l->of_rank[r->group_members[at]] = point;
}

static bool have_last_points(struct last_points *l, const struct replay *r)
{
    bool large = false;
    for (int64_t group = 0; group < r->groups; group++)
        large |= r->group_first[group + 1] - r->group_first[group] > SMALL_GROUP;
    *l = (struct last_points){make(r->ranks, 8), make(r->groups, 8), make(MOST_USED, 8), 0,
                              large ? make(r->groups * r->ranks, 1) : NULL};
    bool fine = l->of_rank && l->of_group && l->used && (!large || l->member);
    for (int64_t group = 0; fine && large && group < r->groups; group++)
        for (int64_t at = r->group_first[group]; at < r->group_first[group + 1]; at++)
            l->member[group * r->ranks + r->group_members[at]] = 1;
    return fine;
}

static void forget_points(struct last_points *l, const struct replay *r)
{
    l->used_count = 0;
    for (int64_t rank = 0; rank < r->ranks; rank++)
        l->of_rank[rank] = NONE;
    for (int64_t group = 0; group < r->groups; group++)
        l->of_group[group] = NONE;
}

static void free_last_points(struct last_points *l)
{
    free(l->of_rank);
    free(l->of_group);
    free(l->used);
    free(l->member);
}

static int ascending(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

/* From where on the waits of the side that was late in a collective operation pay for those who
   waited for it. The reference (Scalasca 2.6) goes over them in order of time and counts a rank in
   only when it comes to the next point at which the late side met a member for the last time: of
   the ranks met at one such point, the waits up to the next one pay nothing, and where there is no
   next one, none does. Those that were met before all others are counted from there on. */
static void charge_as_reference(struct work *w, const struct last_points *l, int64_t point,
                                int64_t *met)
{
    struct replay *r = w->r;
    int32_t group = r->members[point], own = r->rank[r->location[point]];
    int64_t count = 0;
    for (int64_t at = r->group_first[group]; at < r->group_first[group + 1]; at++)
        if (r->group_members[at] != own)
            met[count++] = previous(l, r, r->group_members[at]);
    qsort(met, (size_t)count, sizeof *met, ascending);
    for (int64_t at = w->waiter_first[point]; at < w->waiter_first[point + 1]; at++) {
        int64_t waiter = w->waiters[at], before = w->before_cause[waiter], next = 0;
        if (before == met[0])
            continue;
        while (next < count && met[next] <= before)
            next++;
        w->charged[waiter] = (int32_t)(next < count ? met[next] - 1 : NOBODY);
    }
}

static bool find_previous(struct work *w)
{
    struct replay *r = w->r;
    struct last_points l;
    int64_t *met = make(r->ranks, 8);
    bool fine = have_last_points(&l, r) && met;
    for (int64_t location = 0; fine && location < r->locations; location++) {
        int64_t team = NONE;
        forget_points(&l, r);
        for (int64_t point = r->first[location]; point < r->first[location + 1]; point++) {
            if (r->wait[point] > 0 && r->cause[point] >= 0)
                w->before_wait[point] = (int32_t)(r->is_team[point] ? team
                    : previous(&l, r, r->rank[r->location[r->cause[point]]]));
            for (int64_t at = w->waiter_first[point]; at < w->waiter_first[point + 1]; at++) {
                int64_t waiter = w->waiters[at];
                w->before_cause[waiter] = (int32_t)(r->is_team[point] ? team
                    : previous(&l, r, r->rank[r->location[waiter]]));
                w->charged[waiter] = w->before_cause[waiter];
            }
            if (r->members[point] >= 0 && w->waiter_first[point] < w->waiter_first[point + 1])
                charge_as_reference(w, &l, point, met);
            if (r->is_team[point])
                team = point;
            else
                note(&l, r, point);
        }
    }
    free(met);
    free_last_points(&l);
    return fine;
}

/* The last point of a location before an event at which it met a rank, or, for -1, its team.
   The events ascend. 0, or -1 where there is no memory. */
int rp_last_met(struct replay *r, int64_t count, const int64_t *event, const int32_t *met,
                int64_t *found)
{
    struct last_points l;
    bool fine = have_last_points(&l, r);
    int64_t query = 0;
    for (int64_t location = 0; fine && location < r->locations; location++) {
        int64_t team = NONE, point = r->first[location], stop = r->first[location + 1];
        forget_points(&l, r);
        for (; query < count && event[query] < r->starts[location + 1]; query++) {
            for (; point < stop && r->event[point] < event[query]; point++) {
                if (r->is_team[point])
                    team = point;
                else
                    note(&l, r, point);
            }
            found[query] = met[query] < 0 ? team : previous(&l, r, met[query]);
        }
    }
    free_last_points(&l);
    return fine ? 0 : NO_MEMORY;
}
