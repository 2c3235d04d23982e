/* A fully associative LRU cache of 64-byte lines with write-allocate and write-back.
 * Addresses are 64 bits wide. p traces take turns, access by access.
 * Prints: lines read from memory, lines written back (the final flush included). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { uint64_t line; long newer, older; int dirty, used; } Entry;
typedef struct { uint64_t *items; long size, room; } Trace;

static Trace traces[64];
static int current;

static void touch(uint64_t address, int write)
{
    Trace *t = &traces[current];
    if (t->size == t->room) {
        t->room = t->room ? 2 * t->room : 1 << 16;
        t->items = realloc(t->items, (size_t)t->room * sizeof *t->items);
        if (!t->items) exit(3);
    }
    t->items[t->size++] = (address / 64) << 1 | (unsigned)write;
}

static Entry *entries;
static long *buckets, *chain;
static long lines, filled, newest = -1, oldest = -1, mask;
static uint64_t reads, writes;

static long slot_of(uint64_t line) { return (long)((line * 0x9E3779B97F4A7C15ull) >> 20) & mask; }

static void start(long capacity)
{
    lines = capacity;
    mask = 1;
    while (mask < 4 * capacity) mask *= 2;
    mask -= 1;
    entries = calloc((size_t)capacity, sizeof *entries);
    chain = malloc((size_t)capacity * sizeof *chain);
    buckets = malloc((size_t)(mask + 1) * sizeof *buckets);
    for (long i = 0; i <= mask; i++) buckets[i] = -1;
}

static void unlink_entry(long e)
{
    if (entries[e].newer >= 0) entries[entries[e].newer].older = entries[e].older;
    else newest = entries[e].older;
    if (entries[e].older >= 0) entries[entries[e].older].newer = entries[e].newer;
    else oldest = entries[e].newer;
}

static void push_entry(long e)
{
    entries[e].newer = -1;
    entries[e].older = newest;
    if (newest >= 0) entries[newest].newer = e;
    newest = e;
    if (oldest < 0) oldest = e;
}

static void reference(uint64_t item)
{
    uint64_t line = item >> 1;
    long slot = slot_of(line), e;
    for (e = buckets[slot]; e >= 0 && entries[e].line != line; e = chain[e]) {}
    if (e < 0) {
        reads++;
        if (filled < lines) {
            e = filled++;
        } else {
            long *link;
            e = oldest;
            unlink_entry(e);
            writes += (uint64_t)entries[e].dirty;
            for (link = &buckets[slot_of(entries[e].line)]; *link != e; link = &chain[*link]) {}
            *link = chain[e];
        }
        entries[e].line = line;
        entries[e].dirty = 0;
        chain[e] = buckets[slot];
        buckets[slot] = e;
    } else {
        unlink_entry(e);
    }
    push_entry(e);
    entries[e].dirty |= (int)(item & 1);
}

static void replay(int threads, long capacity)
{
    long at[64] = {0};
    int left = threads;
    free(entries), free(chain), free(buckets);
    filled = 0, newest = oldest = -1, reads = writes = 0;
    start(capacity);
    while (left) {
        left = 0;
        for (int t = 0; t < threads; t++)
            if (at[t] < traces[t].size) {
                reference(traces[t].items[at[t]++]);
                left++;
            }
    }
    for (long e = 0; e < filled; e++) writes += (uint64_t)entries[e].dirty;
    printf("%llu %llu\n", (unsigned long long)reads, (unsigned long long)writes);
}
