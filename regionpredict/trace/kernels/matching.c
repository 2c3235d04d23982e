/* Which operations belong together: messages, requests and collective operations.

   Messages of one sender, receiver, communicator and tag are received in the order in which they
   were sent (MPI 4.0, 3.5); the k-th collective operations of the members of a communicator are
   one. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEND = 2, RECEIVE, SEND_REQUEST, SEND_COMPLETE, RECEIVE_REQUEST, RECEIVE_COMPLETE,
    REQUEST_CANCELLED = 9, COLLECTIVE_END = 11, COLLECTIVE_REQUEST, COLLECTIVE_COMPLETE
};
enum { NONE = -1, NO_MEMORY = -1 };

struct matching {
    int64_t locations, operations, communicators;
    const int64_t *first;  /* the first operation of each location, and their number */
    const int64_t *order;  /* rank by rank in order of time, where threads of a rank communicate;
                              NULL: as they are */
    const int32_t *rank;
    const uint8_t *kind;   /* of each operation */
    const int32_t *partner, *communicator, *tag;
    const int64_t *request;
    int64_t *mate;         /* of sends and receives */
    int64_t *other;        /* the request of a completion, the completion of a request */
    int64_t *instance;     /* which one on its communicator, for collective operations */
};

struct slot {
    int64_t key[3];
    int64_t head, tail;  /* of a queue of sends */
    int used;
};

static uint64_t mixed(int64_t a, int64_t b, int64_t c)
{
    uint64_t hash = (uint64_t)a * 0x9E3779B97F4A7C15u ^ (uint64_t)b * 0xC2B2AE3D27D4EB4Fu
        ^ (uint64_t)c * 0x165667B19E3779F9u;
    hash ^= hash >> 29;
    hash *= 0xBF58476D1CE4E5B9u;
    return hash ^ hash >> 32;
}

struct slots {
    struct slot *slots;
    uint64_t mask;
    int64_t used;
};

static struct slot *find(struct slots *table, int64_t a, int64_t b, int64_t c)
{
    uint64_t at = mixed(a, b, c) & table->mask;
    for (;; at = (at + 1) & table->mask) {
        struct slot *slot = &table->slots[at];
        if (!slot->used || (slot->key[0] == a && slot->key[1] == b && slot->key[2] == c))
            return slot;
    }
}

/* Leaves out keys whose queue is empty: of requests only those count that are open. */
static int grow(struct slots *table)
{
    int64_t open = 0;
    for (uint64_t at = 0; at <= table->mask; at++)
        open += table->slots[at].used && table->slots[at].head >= 0;
    uint64_t size = table->mask + 1;
    if (4 * (uint64_t)open > size)
        size *= 2;
    struct slots other = {calloc(size, sizeof(struct slot)), size - 1, open + 1};
    if (!other.slots)
        return NO_MEMORY;
    for (uint64_t at = 0; at <= table->mask; at++)
        if (table->slots[at].used && table->slots[at].head >= 0) {
            int64_t *key = table->slots[at].key;
            *find(&other, key[0], key[1], key[2]) = table->slots[at];
        }
    free(table->slots);
    *table = other;
    return 0;
}

static struct slot *place(struct slots *table, int64_t a, int64_t b, int64_t c)
{
    struct slot *slot = find(table, a, b, c);
    if (slot->used)
        return slot;
    if (2 * ++table->used > (int64_t)table->mask) {
        if (grow(table))
            return NULL;
        slot = find(table, a, b, c);
    }
    *slot = (struct slot){{a, b, c}, NONE, NONE, 1};
    return slot;
}

static int64_t channel(const struct matching *m, int64_t at)
{
    return (int64_t)((uint64_t)(uint32_t)m->communicator[at] << 32 | (uint32_t)m->tag[at]);
}

/* The operations in order: that of number `i` and its rank. `location` is the last one's. */
static int64_t next(const struct matching *m, int64_t i, int64_t *location, int32_t *rank)
{
    int64_t at = m->order ? m->order[i] : i;
    while (at < m->first[*location])
        --*location;
    while (at >= m->first[*location + 1])
        ++*location;
    *rank = m->rank[*location];
    return at;
}

/* Requests and completions of each rank. */
static int match_requests(struct matching *m, struct slots *table)
{
    int32_t rank;
    for (int64_t i = 0, location = 0; i < m->operations; i++) {
        int64_t at = next(m, i, &location, &rank);
        int64_t owner = m->order ? rank : location;
        int kind = m->kind[at];
        if (kind == SEND || kind == RECEIVE) {
            m->other[at] = at;
            continue;
        }
        if (kind == COLLECTIVE_REQUEST || kind == COLLECTIVE_COMPLETE) {
            struct slot *posted = place(table, owner, m->request[at], 1);
            if (!posted)
                return NO_MEMORY;
            if (kind == COLLECTIVE_REQUEST) {
                posted->head = at;
            } else if (posted->head >= 0) {
                m->other[at] = posted->head;
                m->other[posted->head] = at;
                posted->head = NONE;
            }
            continue;
        }
        if (kind < SEND_REQUEST || kind > REQUEST_CANCELLED || kind == REQUEST_CANCELLED - 1)
            continue;
        struct slot *slot = place(table, owner, m->request[at], 0);
        if (!slot)
            return NO_MEMORY;
        if (kind == SEND_REQUEST || kind == RECEIVE_REQUEST) {
            slot->head = at;
        } else if (slot->head >= 0) {
            int sends = m->kind[slot->head] == SEND_REQUEST;
            if (kind == REQUEST_CANCELLED || sends == (kind == SEND_COMPLETE)) {
                m->other[at] = slot->head;
                m->other[slot->head] = at;
                slot->head = NONE;
            }
        }
    }
    return 0;
}

static int match_messages(struct matching *m, struct slots *table, int64_t *queue)
{
    int32_t rank;
    for (int64_t i = 0, location = 0; i < m->operations; i++) {
        int64_t at = next(m, i, &location, &rank);
        int kind = m->kind[at];
        if ((kind != SEND && kind != SEND_REQUEST) || m->partner[at] < 0)
            continue;
        if (m->other[at] >= 0 && m->kind[m->other[at]] == REQUEST_CANCELLED)
            continue;
        struct slot *slot = place(
            table, (int64_t)rank << 32 | (uint32_t)m->partner[at], channel(m, at), 0);
        if (!slot)
            return NO_MEMORY;
        queue[at] = NONE;
        if (slot->head < 0)
            slot->head = at;
        else
            queue[slot->tail] = at;
        slot->tail = at;
    }
    for (int64_t i = 0, location = 0; i < m->operations; i++) {
        int64_t at = next(m, i, &location, &rank);
        int kind = m->kind[at];
        if ((kind != RECEIVE && kind != RECEIVE_COMPLETE) || m->partner[at] < 0)
            continue;
        struct slot *slot = find(
            table, (int64_t)m->partner[at] << 32 | (uint32_t)rank, channel(m, at), 0);
        if (!slot->used || slot->head < 0)
            continue;
        m->mate[at] = slot->head;
        m->mate[slot->head] = at;
        slot->head = queue[slot->head];
    }
    return 0;
}

/* 0, or -1 where there is no memory. */
int rp_match(struct matching *m)
{
    struct slots table = {calloc(1024, sizeof(struct slot)), 1023, 0};
    int64_t *queue = malloc((size_t)(m->operations + 1) * 8);
    int64_t *counts = malloc((size_t)(m->communicators + 1) * 8);
    int result = NO_MEMORY;
    if (!table.slots || !queue || !counts)
        goto end;
    for (int64_t at = 0; at < m->operations; at++)
        m->mate[at] = m->other[at] = m->instance[at] = NONE;
    if (match_requests(m, &table))
        goto end;
    memset(table.slots, 0, (table.mask + 1) * sizeof(struct slot));
    table.used = 0;
    if (match_messages(m, &table, queue))
        goto end;
    int32_t rank, last = NONE;
    for (int64_t i = 0, location = 0; i < m->operations; i++) {
        int64_t at = next(m, i, &location, &rank);
        if (rank != last)
            memset(counts, 0, (size_t)(m->communicators + 1) * 8);
        last = rank;
        /* Members begin a communicator's operations in one order, whenever these are complete. */
        int64_t end = m->kind[at] == COLLECTIVE_END       ? at
                      : m->kind[at] == COLLECTIVE_REQUEST ? m->other[at]
                                                          : NONE;
        if (end >= 0 && m->communicator[end] >= 0)
            m->instance[end] = counts[m->communicator[end]]++;
    }
    result = 0;
end:
    free(table.slots);
    free(queue);
    free(counts);
    return result;
}
