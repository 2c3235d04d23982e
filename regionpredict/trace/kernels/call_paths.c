/* The call tree of a trace, and where in it the time goes.

   A node is a region entered from a node; threads of a team start at the node at which their rank
   forked last. Locations of one rank are neighbours, its first thread in front. */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { ENTER, LEAVE, FORK = 14 };
enum { NONE = -1, TOO_MANY_NODES = -1, NO_MEMORY = -2 };

struct call_paths {
    int64_t locations, regions;
    const int64_t *starts, *time;
    const uint8_t *kind;
    const int32_t *region;
    const int32_t *rank;          /* of each location */
    const uint8_t *marked;        /* of each region: its leave is asked for */
    int64_t operations;
    const int64_t *operation_event;
    int64_t nodes;                /* capacity of the tree */
    int32_t *parent, *node_region;
    int32_t *operation_node;      /* node, ENTER and LEAVE around each operation; -1: none */
    int64_t *operation_enter, *operation_leave;
    int64_t *exclusive, *visits;  /* ticks and entries: locations x nodes */
    int64_t *mark_enter, *mark_leave;  /* of marked regions, in the order of their leaves */
    int32_t *mark_node;
    int32_t *event_node;          /* of each ENTER and LEAVE; -1 elsewhere */
    int64_t marks;
};

struct level {
    int32_t node;
    int64_t enter, first;  /* the first operation that can be in it */
    int64_t direct;        /* how many lie in it */
};

struct tree {
    struct call_paths *paths;
    int64_t count;
    int32_t *first, *next;  /* children */
};

static int32_t child(struct tree *tree, int32_t parent, int32_t region)
{
    int32_t *link = &tree->first[parent + 1];
    int32_t *start = link;
    for (int32_t node = *link; node >= 0; link = &tree->next[node], node = *link)
        if (tree->paths->node_region[node] == region) {
            if (link != start) { /* to the front: it comes again */
                *link = tree->next[node];
                tree->next[node] = *start;
                *start = node;
            }
            return node;
        }
    if (tree->count == tree->paths->nodes)
        return NONE;
    int32_t node = (int32_t)tree->count++;
    tree->paths->parent[node] = parent;
    tree->paths->node_region[node] = region;
    tree->next[node] = *start;
    *start = node;
    return node;
}

/* The node of the fork that was last at that time, -1 before any. */
static int32_t forked_at(const int64_t *times, const int32_t *nodes, int64_t count, int64_t time)
{
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (times[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? nodes[low - 1] : NONE;
}

/* The number of nodes; below 0 where there are too many, or no memory. */
int64_t rp_call_paths(struct call_paths *paths)
{
    struct tree tree = {paths, 0, malloc((size_t)(paths->nodes + 1) * 4),
                        malloc((size_t)paths->nodes * 4)};
    int64_t depths = 64, fork_room = 1024, forks = 0;
    struct level *stack = malloc((size_t)depths * sizeof *stack);
    int64_t *fork_times = malloc((size_t)fork_room * 8);
    int32_t *fork_nodes = malloc((size_t)fork_room * 4);
    int64_t result = NO_MEMORY;
    if (!tree.first || !tree.next || !stack || !fork_times || !fork_nodes)
        goto end;
    for (int64_t at = 0; at <= paths->nodes; at++)
        tree.first[at] = NONE;
    paths->marks = 0;
    int64_t operation = 0;
    for (int64_t location = 0; location < paths->locations; location++) {
        bool worker = location && paths->rank[location] == paths->rank[location - 1];
        if (!worker)
            forks = 0;
        int64_t *exclusive = paths->exclusive + location * paths->nodes;
        int64_t *visits = paths->visits + location * paths->nodes;
        int64_t depth = 0, last = 0;
        for (int64_t at = paths->starts[location]; at < paths->starts[location + 1]; at++) {
            int64_t time = paths->time[at];
            paths->event_node[at] = NONE;
            if (paths->kind[at] == ENTER) {
                int32_t parent = depth ? stack[depth - 1].node
                    : worker ? forked_at(fork_times, fork_nodes, forks, time) : NONE;
                int32_t node = child(&tree, parent, paths->region[at]);
                if (node == NONE) {
                    result = TOO_MANY_NODES;
                    goto end;
                }
                if (depth)
                    exclusive[parent] += time - last;
                last = time;
                paths->event_node[at] = node;
                visits[node]++;
                if (depth == depths) {
                    struct level *more = realloc(stack, (size_t)(depths *= 2) * sizeof *stack);
                    if (!more)
                        goto end;
                    stack = more;
                }
                stack[depth++] = (struct level){node, at, operation, 0};
            } else if (paths->kind[at] == LEAVE && depth) {
                struct level *top = &stack[--depth];
                paths->event_node[at] = top->node;
                exclusive[top->node] += time - last;
                last = time;
                for (int64_t k = top->first; top->direct; k++)
                    if (paths->operation_enter[k] == top->enter) {
                        paths->operation_leave[k] = at;
                        top->direct--;
                    }
                int32_t region = paths->region[at]; /* -1: the event names none */
                if (region >= 0 && paths->marked[region]) {
                    paths->mark_enter[paths->marks] = top->enter;
                    paths->mark_leave[paths->marks] = at;
                    paths->mark_node[paths->marks++] = top->node;
                }
            } else if (paths->kind[at] == FORK && !worker) {
                if (forks == fork_room) {
                    fork_room *= 2;
                    int64_t *times = realloc(fork_times, (size_t)fork_room * 8);
                    if (times)
                        fork_times = times;
                    int32_t *nodes = realloc(fork_nodes, (size_t)fork_room * 4);
                    if (nodes)
                        fork_nodes = nodes;
                    if (!times || !nodes)
                        goto end;
                }
                fork_times[forks] = time;
                fork_nodes[forks++] = depth ? stack[depth - 1].node : NONE;
            }
            if (operation < paths->operations && paths->operation_event[operation] == at) {
                bool inside = depth > 0;
                paths->operation_node[operation] = inside ? stack[depth - 1].node : NONE;
                paths->operation_enter[operation] = inside ? stack[depth - 1].enter : NONE;
                paths->operation_leave[operation] = NONE;
                if (inside)
                    stack[depth - 1].direct++;
                operation++;
            }
        }
    }
    result = tree.count;
end:
    free(tree.first);
    free(tree.next);
    free(stack);
    free(fork_times);
    free(fork_nodes);
    return result;
}
