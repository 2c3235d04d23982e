/* What locations did between points: entries of ticks by call path, and their sums.
   Part of delays.c, behind its structures. */

static void push_entry(struct work *w, int32_t node, int64_t ticks)
{
    w->entry_node[w->entries] = node;
    w->entry_ticks[w->entries++] = ticks;
}

struct collected {  /* ticks by node since the last point */
    int64_t *ticks;
    int32_t *nodes;
    uint8_t *mark;
    int64_t count;
};

static void collect(struct collected *c, int32_t node, int64_t ticks)
{
    if (!c->mark[node]) {
        c->mark[node] = 1;
        c->nodes[c->count++] = node;
        c->ticks[node] = 0;
    }
    c->ticks[node] += ticks;
}

static void flush(struct work *w, struct collected *c, bool keep)
{
    for (int64_t at = 0; at < c->count; at++) {
        int32_t node = c->nodes[at];
        c->mark[node] = 0;
        if (keep && c->ticks[node])
            push_entry(w, node, c->ticks[node]);
    }
    c->count = 0;
}

/* Room for all entries: at most one each event, and three each point. Memory that is not written
   to costs nothing. */
static bool have_entries(struct work *w)
{
    size_t room = (size_t)(w->r->starts[w->r->locations] + 3 * w->r->points + 1);
    w->entry_node = malloc(room * 4);
    w->entry_ticks = malloc(room * 8);
    return w->entry_node && w->entry_ticks;
}

static bool lay_entries(struct work *w)
{
    struct replay *r = w->r;
    struct collected c = {w->mine, w->my_nodes, w->my_mark, 0};
    if (!have_entries(w))
        return false;
    int64_t rested = 0;
    for (int64_t location = 0; location < r->locations; location++) {
        if (r->starts[location] - rested >= MOST_EVENTS_AT_ONCE) {
            r->rest();
            rested = r->starts[location];
        }
        w->entry_first[location] = w->entries;
        bool worker = location && r->rank[location] == r->rank[location - 1];
        int64_t point = r->first[location], stop = r->first[location + 1];
        int64_t depth = 0, end = r->starts[location + 1];
        int64_t last = end > r->starts[location] ? r->time[r->starts[location]] : 0, waited = 0;
        for (int64_t at = r->starts[location]; at < end; at++) {
            int64_t time = r->time[at];
            int32_t node = r->event_node[at];
            bool here = point < stop && r->event[point] == at;
            if (r->kind[at] == ENTER) {
                int32_t parent = r->parent[node];
                if (depth++)
                    collect(&c, parent, time - last);
                last = time;
                if (here && r->is_team[point]) { /* from the fork on it is the region's time */
                    if (depth > 1)
                        collect(&c, parent, -r->total[point]);
                }
            }
            if (here) {
                bool fork = r->is_team[point] && r->kind[at] == ENTER;
                flush(w, &c, !(fork && worker));
                w->entry[point] = w->entries;
                w->reached[point] = last;
                w->waited[point] = waited;
                waited += r->wait[point];
                if (r->wait[point])
                    push_entry(w, r->node[point], -r->wait[point]);
                if (fork)
                    collect(&c, node, r->total[point]);
                point++;
            }
            if (r->kind[at] == LEAVE && depth) {
                collect(&c, node, time - last);
                last = time;
                depth--;
            }
            if (r->kind[at] == JOIN && !worker && depth) { /* up to the join, too */
                int32_t region = at ? r->event_node[at - 1] : NONE;
                if (region >= 0 && r->kind[at - 1] == LEAVE && r->parent[region] >= 0) {
                    collect(&c, region, time - last);
                    last = time;
                }
            }
        }
        flush(w, &c, !worker);
    }
    w->entry_first[r->locations] = w->entries;
    return true;
}

static bool lay_sums(struct work *w)
{
    w->step = w->r->nodes > 32 ? w->r->nodes : 32;
    int64_t count = w->entries / w->step + 1;
    w->sums = make(count * w->r->nodes, 8);
    int64_t *running = make(w->r->nodes, 8);
    if (!w->sums || !running) {
        free(running);
        return false;
    }
    for (int64_t at = 0; at < w->entries; at++) {
        if (at % w->step == 0)
            memcpy(w->sums + at / w->step * w->r->nodes, running, (size_t)w->r->nodes * 8);
        running[w->entry_node[at]] += w->entry_ticks[at];
    }
    if (w->entries % w->step == 0)
        memcpy(w->sums + w->entries / w->step * w->r->nodes, running, (size_t)w->r->nodes * 8);
    free(running);
    return true;
}

/* Ticks by node between two entries, into scratch. */
static void gather(struct work *w, int64_t from, int64_t to, struct collected *c)
{
    int64_t low = (from + w->step - 1) / w->step, high = to / w->step;
    if (high - low < 3) {
        for (int64_t at = from; at < to; at++)
            collect(c, w->entry_node[at], w->entry_ticks[at]);
        return;
    }
    for (int64_t at = from; at < low * w->step; at++)
        collect(c, w->entry_node[at], w->entry_ticks[at]);
    const int64_t *first = w->sums + low * w->r->nodes, *last = w->sums + high * w->r->nodes;
    for (int64_t node = 0; node < w->r->nodes; node++)
        if (last[node] != first[node])
            collect(c, (int32_t)node, last[node] - first[node]);
    for (int64_t at = high * w->step; at < to; at++)
        collect(c, w->entry_node[at], w->entry_ticks[at]);
}

/* Equation 4.1 between a point and the one before it: without waits, and of the call at the first
   point only what follows the synchronisation. Negative sums count as none. */
static void interval_times(struct work *w, int64_t before, int64_t point, struct collected *c)
{
    struct replay *r = w->r;
    int64_t from = before < 0 ? w->entry_first[r->location[point]]
                              : w->entry[before] + (r->wait[before] != 0);
    if (from < w->entry[point])
        gather(w, from, w->entry[point], c);
    for (int64_t at = 0; at < c->count; at++)
        if (c->ticks[c->nodes[at]] < 0)
            c->ticks[c->nodes[at]] = 0;
    if (before >= 0 && c->mark[r->node[before]]) {
        int64_t *ticks = &c->ticks[r->node[before]];
        *ticks += r->completion[before] - r->total[before];
        if (*ticks < 0)
            *ticks = 0;
    }
}

static void forget(struct collected *c)
{
    for (int64_t at = 0; at < c->count; at++)
        c->mark[c->nodes[at]] = 0;
    c->count = 0;
}
