/* Records the MPI calls of a program: loaded in front of the MPI library, it takes each call by
   its name, passes it on by its PMPI name, and notes when it was entered and left.

   Each thread of a rank keeps its events in memory. The rank writes them to
   REGIONPREDICT_TRACE/RANK-THREAD.events when it finalizes. Functions and OpenMP are recorded by
   ompt_record.c, by the same clock and the same numbers of threads. Built by mpicc. */
#define _GNU_SOURCE

#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Open MPI 5 has partitioned and persistent collective operations of MPI 4, but says MPI 3.1. */
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define HAS_MPI_4 1
#endif
#define QUIET __attribute__((no_instrument_function))

/* As `_WHAT` in recorded_events.py. */
enum { ENTER, LEAVE, SEND, RECEIVE, SEND_REQUEST, SEND_COMPLETE, RECEIVE_REQUEST, RECEIVE_COMPLETE,
       COLLECTIVE_BEGIN = 10, COLLECTIVE_END, COLLECTIVE_REQUEST, COLLECTIVE_COMPLETE,
       WINDOW_LOCK, WINDOW_UNLOCK, /* first: when the call began */
       COUNTERS, /* of the event before: first, second, and partner below communicator */
       PARTITIONS = 32, NEIGHBORHOOD /* kinds of requests alone */ };

struct record {
    uint64_t time, first, second;  /* nanoseconds; region or request and bytes */
    int32_t what, partner, communicator, tag;
};

enum { BLOCK = 1 << 14, MOST_NAMES = 4096, MOST_COMMS = 1024, REQUESTS = 1 << 14 };

struct block {
    struct block *next;
    int64_t used;
    struct record records[BLOCK];
};

struct thread {
    struct thread *next;
    uint32_t number;
    struct block *first, *last;
    uint64_t size; /* bytes of all blocks */
    int is_full;
};

static struct thread *threads;
static __thread struct thread *mine;
static int recording, world_rank = -1;
static uint64_t largest; /* bytes of a thread's events, 0: any */
static int counted; /* whether counters are read */
static int several; /* whether threads may call MPI at the same time */
static pthread_mutex_t tables = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static const char *name_keys[MOST_NAMES];
static int names;
static MPI_Comm comms[MOST_COMMS];
static int comm_count;
static FILE *definitions;

struct neighbors; /* mpi_neighbors.h */
QUIET static void note_started(struct neighbors *all, uint64_t time);
QUIET static void note_completed(const struct neighbors *all);

struct pending {
    MPI_Request request;
    uint64_t number;
    int kind, partner, communicator, tag;
    uint64_t sent, got; /* of a collective operation, whose root is `partner`, and number `tag` */
    int persistent, started; /* a persistent request stays, also while it is not started */
    int parts, ready;        /* of a partitioned send */
    struct neighbors *neighbors; /* of a neighborhood collective */
    int used;                /* a place that never was ends the search for a request */
};
static struct pending pending[REQUESTS];
static uint64_t requests;

QUIET static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The number of the calling thread, by ompt_record.c; UINT32_MAX if it is not recorded. */
extern uint32_t regionpredict_thread(void) __attribute__((weak));
extern int regionpredict_counters(uint64_t values[3]) __attribute__((weak));

QUIET static struct thread *this_thread(void)
{
    uint32_t number = 0;
    if (mine || (regionpredict_thread && (number = regionpredict_thread()) == UINT32_MAX))
        return mine;
    struct thread *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->number = number;
    self->next = __atomic_load_n(&threads, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&threads, &self->next, self, 0, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
    return mine = self;
}

/* Around what all threads of the rank share. */
QUIET static void guard(void)
{
    if (several)
        pthread_mutex_lock(&tables);
}
QUIET static void unguard(void)
{
    if (several)
        pthread_mutex_unlock(&tables);
}

QUIET static void note_at(uint64_t time, int what, uint64_t first, uint64_t second, int partner,
                          int comm, int tag)
{
    struct thread *self = recording ? this_thread() : NULL;
    if (!self || self->is_full)
        return;
    struct block *last = self->last;
    if (!last || last->used == BLOCK) {
        self->size += sizeof *last;
        self->is_full = largest && self->size > largest;
        if (self->is_full)
            return;
        struct block *more = malloc(sizeof *more);
        if (!more) {
            recording = 0;
            return;
        }
        more->next = NULL;
        more->used = 0;
        if (last)
            last->next = more;
        else
            self->first = more;
        last = self->last = more;
    }
    last->records[last->used++]
        = (struct record){time, first, second, what, partner, comm, tag};
}

QUIET static void note(int what, uint64_t first, uint64_t second, int partner, int comm, int tag)
{
    note_at(now(), what, first, second, partner, comm, tag);
}

QUIET static int name_in_table(const char *key)
{
    uint64_t at = ((uintptr_t)key >> 3) * 0x9E3779B97F4A7C15u >> 52;
    for (int tries = 0; tries < MOST_NAMES; tries++, at = (at + 1) % MOST_NAMES) {
        if (name_keys[at] == key)
            return (int)at;
        if (!name_keys[at]) {
            if (names++ >= MOST_NAMES - 1)
                return 0;
            name_keys[at] = key;
            return (int)at;
        }
    }
    return 0;
}

/* The number of a literal. */
QUIET static int name_of(const char *key)
{
    guard();
    int number = name_in_table(key);
    unguard();
    return number;
}

QUIET static void note_counters(void)
{
    uint64_t values[3] = {0};
    if (recording && counted && regionpredict_counters(values) > 0)
        note(COUNTERS, values[0], values[1], (int)(uint32_t)values[2], (int)(values[2] >> 32), 0);
}

QUIET static void enter(const char *name)
{
    if (!recording)
        return;
    note(ENTER, (uint64_t)name_of(name), 0, -1, -1, -1);
    note_counters();
}
QUIET static void leave(void)
{
    note(LEAVE, 0, 0, -1, -1, -1);
    note_counters();
}

QUIET static int comm_in_table(MPI_Comm comm)
{
    for (int at = comm_count - 1; at >= 0; at--)
        if (comms[at] == comm)
            return at;
    if (comm_count == MOST_COMMS || comm == MPI_COMM_NULL || !definitions)
        return -1;
    MPI_Group mine, world;
    int size, inter = 0;
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    fprintf(definitions, "comm %d", comm_count);
    for (int side = 0; side < 1 + inter; side++) {
        if (side)
            PMPI_Comm_remote_group(comm, &mine);
        else
            PMPI_Comm_group(comm, &mine);
        PMPI_Group_size(mine, &size);
        fprintf(definitions, side ? " |" : "");
        for (int at = 0; at < size; at++) {
            int there;
            PMPI_Group_translate_ranks(mine, 1, &at, world, &there);
            fprintf(definitions, " %d", there);
        }
        PMPI_Group_free(&mine);
    }
    fprintf(definitions, "\n");
    PMPI_Group_free(&world);
    comms[comm_count] = comm;
    return comm_count++;
}

/* The number of a communicator; its members are written down when it is met first. */
QUIET static int comm_of(MPI_Comm comm)
{
    guard();
    int number = comm_in_table(comm);
    unguard();
    return number;
}

QUIET static void forget_comm(MPI_Comm comm)
{
    guard();
    for (int at = 0; at < comm_count; at++)
        if (comms[at] == comm)
            comms[at] = MPI_COMM_NULL;
    unguard();
}

QUIET static uint64_t bytes(int count, MPI_Datatype type)
{
    int size = 0;
    if (type != MPI_DATATYPE_NULL)
        PMPI_Type_size(type, &size);
    return (uint64_t)count * (uint64_t)size;
}

QUIET static uint64_t received(MPI_Status *status)
{
    int count = 0;
    PMPI_Get_count(status, MPI_BYTE, &count);
    return count == MPI_UNDEFINED ? 0 : (uint64_t)count;
}

QUIET static struct pending *slot_of(MPI_Request request)
{
    uint64_t at = (uint64_t)(uintptr_t)request * 0x9E3779B97F4A7C15u >> 50;
    for (int tries = 0; tries < REQUESTS && pending[at].used; tries++, at = (at + 1) % REQUESTS)
        if (pending[at].number && pending[at].request == request)
            return &pending[at];
    return NULL;
}

/* Replaces what is known of a request of the same handle, which has been completed. */
QUIET static struct pending *put(struct pending request)
{
    struct pending *slot = slot_of(request.request);
    uint64_t at = (uint64_t)(uintptr_t)request.request * 0x9E3779B97F4A7C15u >> 50;
    for (int tries = 0; !slot && tries < REQUESTS; tries++, at = (at + 1) % REQUESTS)
        if (!pending[at].number)
            slot = &pending[at];
    if (slot) {
        request.number = ++requests;
        request.used = 1;
        *slot = request;
    }
    return slot;
}

QUIET static uint64_t post(struct pending request)
{
    guard();
    struct pending *slot = put(request);
    uint64_t number = slot ? slot->number : 0;
    unguard();
    return number;
}

/* What is known of a request before a call that may complete it: another thread may get the same
   handle for a new one before the call is back. */
QUIET static struct pending known(MPI_Request request)
{
    struct pending none = {.number = 0};
    if (request == MPI_REQUEST_NULL)
        return none;
    guard();
    struct pending *slot = slot_of(request);
    struct pending copy = slot ? *slot : none;
    unguard();
    return copy;
}

QUIET static void forget(struct pending *slot)
{
    free(slot->neighbors);
    slot->neighbors = NULL;
    slot->number = 0;
}

/* Notes that a request is completed, and forgets it unless it is persistent. */
QUIET static void complete(struct pending done, MPI_Status *status)
{
    if (!done.number || (done.persistent && !done.started))
        return;
    if (done.kind == COLLECTIVE_REQUEST)
        /* The number of the request stands above that of the operation, which has five bits. */
        note(COLLECTIVE_COMPLETE, done.sent, done.got, done.partner, done.communicator,
             (int)(done.number << 5 | (uint64_t)done.tag));
    else if (done.kind == NEIGHBORHOOD)
        note_completed(done.neighbors);
    else if (done.kind == SEND_REQUEST || (done.kind == PARTITIONS && done.parts))
        note(SEND_COMPLETE, done.number, 0, -1, -1, -1);
    else if (done.kind == PARTITIONS)
        note(RECEIVE_COMPLETE, done.number, done.sent, done.partner, done.communicator, done.tag);
    else if (status->MPI_SOURCE >= 0)
        note(RECEIVE_COMPLETE, done.number, received(status), status->MPI_SOURCE,
             done.communicator, status->MPI_TAG);
    guard();
    struct pending *slot = slot_of(done.request);
    if (slot && slot->number == done.number) {
        if (done.persistent)
            slot->started = 0;
        else
            forget(slot);
    }
    unguard();
}

/* A persistent request: what it is of is known, each start is a request of its own. */
QUIET static void keep(struct pending request)
{
    request.persistent = 1;
    if (request.partner != MPI_PROC_NULL || request.kind == COLLECTIVE_REQUEST
        || request.kind == NEIGHBORHOOD)
        post(request);
}

/* A partitioned send starts when its last part is ready. */
QUIET static void start(MPI_Request request, uint64_t time)
{
    guard();
    struct pending *slot = slot_of(request);
    if (slot && slot->persistent) {
        slot->number = ++requests;
        slot->started = 1;
        slot->ready = 0;
        if (slot->kind == SEND_REQUEST)
            note_at(time, SEND_REQUEST, slot->number, slot->sent, slot->partner,
                    slot->communicator, slot->tag);
        else if (slot->kind == COLLECTIVE_REQUEST)
            note_at(time, COLLECTIVE_REQUEST, slot->number, 0, -1, -1, -1);
        else if (slot->kind == NEIGHBORHOOD)
            note_started(slot->neighbors, time);
        else if (!slot->parts)
            note_at(time, RECEIVE_REQUEST, slot->number, 0, -1, -1, -1);
    }
    unguard();
}

/* ---- begin and end ---- */

QUIET static void begin_recording(void)
{
    const char *folder = getenv("REGIONPREDICT_TRACE");
    const char *limit = getenv("REGIONPREDICT_TRACE_LIMIT");
    char path[4096];
    largest = limit ? strtoull(limit, NULL, 10) : 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    if (!folder || snprintf(path, sizeof path, "%s/%d.names", folder, world_rank) >= (int)sizeof path)
        recording = 0;
    else if (!(definitions = fopen(path, "w")))
        recording = 0;
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    several = level == MPI_THREAD_MULTIPLE;
    if (recording) {
        fprintf(definitions, "process %d -\n", (int)getpid());
        comm_of(MPI_COMM_WORLD);
    }
}

int MPI_Init(int *count, char ***arguments)
{
    counted = getenv("REGIONPREDICT_OMPT_COUNTERS") && regionpredict_counters;
    recording = 1;
    enter("MPI_Init");
    int code = PMPI_Init(count, arguments);
    begin_recording();
    leave();
    return code;
}
int MPI_Init_thread(int *count, char ***arguments, int required, int *provided)
{
    counted = getenv("REGIONPREDICT_OMPT_COUNTERS") && regionpredict_counters;
    recording = 1;
    enter("MPI_Init_thread");
    int code = PMPI_Init_thread(count, arguments, required, provided);
    begin_recording();
    leave();
    return code;
}

/* The time of one event in nanoseconds, measured at the end, in memory that is not written. */
QUIET static uint64_t cost(void)
{
    enum { TRIES = 5, EVENTS = 1000 };
    struct thread *self = mine, scratch = {.number = 0};
    uint64_t least = UINT64_MAX;
    mine = &scratch;
    for (int try = 0; try < TRIES; try++) {
        uint64_t begin = now();
        for (int event = 0; event < EVENTS; event++)
            leave();
        uint64_t each = (now() - begin) / EVENTS;
        least = each < least ? each : least;
    }
    mine = self;
    for (struct block *block = scratch.first, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    return least;
}

QUIET static void write_all(void)
{
    char path[4096];
    if (!definitions)
        return;
    for (int at = 0; at < MOST_NAMES; at++)
        if (name_keys[at])
            fprintf(definitions, "name %d %s\n", at, name_keys[at]);
    for (struct thread *thread = threads; thread; thread = thread->next)
        if (thread->is_full)
            fprintf(definitions, "full %u -\n", thread->number);
    fprintf(definitions, "cost %d -\n", (int)cost());
    fclose(definitions);
    for (struct thread *thread = threads; thread; thread = thread->next) {
        snprintf(path, sizeof path, "%s/%d-%u.events", getenv("REGIONPREDICT_TRACE"), world_rank,
                 thread->number);
        FILE *file = fopen(path, "wb");
        for (struct block *block = thread->first; file && block; block = block->next)
            fwrite(block->records, sizeof *block->records, (size_t)block->used, file);
        if (file)
            fclose(file);
    }
}

int MPI_Finalize(void)
{
    enter("MPI_Finalize");
    int code = PMPI_Finalize();
    leave();
    if (recording)
        write_all();
    recording = 0;
    return code;
}

#include "mpi_messages.h"
#include "mpi_collectives.h"
#include "mpi_neighbors.h"
#include "mpi_partitions.h"
#include "mpi_windows.h"
#include "mpi_named_calls.h"
#include "mpi_communicators.h"
#include "mpi_fortran.h"
