/* Records the MPI calls of a program: loaded in front of the MPI library, it takes each call by
   its name, passes it on by its PMPI name, and notes when it was entered and left.

   Each rank keeps its events in memory and writes them to REGIONPREDICT_TRACE/RANK.events when it
   finalizes. Only the thread that called MPI_Init counts. Functions and OpenMP are recorded by
   ompt_record.c, by the same clock. Built by mpicc. */

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

/* As `_WHAT` in recorded_events.py. */
enum { ENTER, LEAVE, SEND, RECEIVE, SEND_REQUEST, SEND_COMPLETE, RECEIVE_REQUEST, RECEIVE_COMPLETE,
       COLLECTIVE_BEGIN = 10, COLLECTIVE_END, COLLECTIVE_REQUEST, COLLECTIVE_COMPLETE };

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

static struct block *first_block, *last_block;
static int recording, world_rank = -1;
static __thread int mine;  /* whether this thread called MPI_Init */
static uint64_t elsewhere; /* calls of other threads */
static const char *name_keys[MOST_NAMES];
static int names;
static MPI_Comm comms[MOST_COMMS];
static int comm_count;
static FILE *definitions;

struct pending {
    MPI_Request request;
    uint64_t number;
    int kind, partner, communicator, tag;
    uint64_t sent, got; /* of a collective operation, whose root is `partner`, and number `tag` */
    int persistent, started; /* a persistent request stays, also while it is not started */
};
static struct pending pending[REQUESTS];
static uint64_t requests;

QUIET static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

QUIET static void note_at(uint64_t time, int what, uint64_t first, uint64_t second, int partner,
                          int comm, int tag)
{
    if (!recording || !mine)
        return;
    if (!last_block || last_block->used == BLOCK) {
        struct block *more = malloc(sizeof *more);
        if (!more) {
            recording = 0;
            return;
        }
        more->next = NULL;
        more->used = 0;
        if (last_block)
            last_block->next = more;
        else
            first_block = more;
        last_block = more;
    }
    last_block->records[last_block->used++]
        = (struct record){time, first, second, what, partner, comm, tag};
}

QUIET static void note(int what, uint64_t first, uint64_t second, int partner, int comm, int tag)
{
    note_at(now(), what, first, second, partner, comm, tag);
}

/* The number of a literal. */
QUIET static int name_of(const char *key)
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

QUIET static void enter(const char *name)
{
    if (recording && !mine)
        __atomic_fetch_add(&elsewhere, 1, __ATOMIC_RELAXED);
    else if (recording)
        note(ENTER, (uint64_t)name_of(name), 0, -1, -1, -1);
}
QUIET static void leave(void) { note(LEAVE, 0, 0, -1, -1, -1); }

/* The number of a communicator; its members are written down when it is met first. */
QUIET static int comm_of(MPI_Comm comm)
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

QUIET static void forget_comm(MPI_Comm comm)
{
    for (int at = 0; at < comm_count; at++)
        if (comms[at] == comm)
            comms[at] = MPI_COMM_NULL;
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
    for (int tries = 0; tries < REQUESTS; tries++, at = (at + 1) % REQUESTS)
        if (pending[at].number && pending[at].request == request)
            return &pending[at];
    return NULL;
}

QUIET static uint64_t post(MPI_Request request, int kind, int partner, int comm, int tag)
{
    struct pending *slot = slot_of(request);
    uint64_t at = (uint64_t)(uintptr_t)request * 0x9E3779B97F4A7C15u >> 50;
    for (int tries = 0; !slot && tries < REQUESTS; tries++, at = (at + 1) % REQUESTS)
        if (!pending[at].number)
            slot = &pending[at];
    if (!slot)
        return 0;
    *slot = (struct pending){request, ++requests, kind, partner, comm, tag, 0, 0, 0, 0};
    return requests;
}

QUIET static void complete(MPI_Request request, MPI_Status *status)
{
    struct pending *slot = request == MPI_REQUEST_NULL ? NULL : slot_of(request);
    if (!slot)
        return;
    if (slot->persistent && !slot->started)
        return;
    if (slot->kind == COLLECTIVE_REQUEST)
        /* The number of the request stands above that of the operation, which has five bits. */
        note(COLLECTIVE_COMPLETE, slot->sent, slot->got, slot->partner, slot->communicator,
             (int)(slot->number << 5 | (uint64_t)slot->tag));
    else if (slot->kind == SEND_REQUEST)
        note(SEND_COMPLETE, slot->number, 0, -1, -1, -1);
    else if (status->MPI_SOURCE >= 0)
        note(RECEIVE_COMPLETE, slot->number, received(status), status->MPI_SOURCE,
             slot->communicator, status->MPI_TAG);
    if (slot->persistent)
        slot->started = 0;
    else
        slot->number = 0;
}

/* A persistent request: what it is of is known, each start is a request of its own. */
QUIET static void keep(MPI_Request request, int kind, int partner, int comm, int tag, uint64_t sent)
{
    struct pending *slot;
    if (partner == MPI_PROC_NULL || !post(request, kind, partner, comm, tag))
        return;
    slot = slot_of(request);
    slot->persistent = 1;
    slot->sent = sent;
}

QUIET static void start(MPI_Request request, uint64_t time)
{
    struct pending *slot = slot_of(request);
    if (!slot || !slot->persistent)
        return;
    slot->number = ++requests;
    slot->started = 1;
    if (slot->kind == SEND_REQUEST)
        note_at(time, SEND_REQUEST, slot->number, slot->sent, slot->partner, slot->communicator,
                slot->tag);
    else
        note_at(time, RECEIVE_REQUEST, slot->number, 0, -1, -1, -1);
}

/* ---- begin and end ---- */

QUIET static void begin_recording(void)
{
    const char *folder = getenv("REGIONPREDICT_TRACE");
    char path[4096];
    PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    if (!folder || snprintf(path, sizeof path, "%s/%d.names", folder, world_rank) >= (int)sizeof path)
        recording = 0;
    else if (!(definitions = fopen(path, "w")))
        recording = 0;
    if (recording) {
        fprintf(definitions, "process %d -\n", (int)getpid());
        comm_of(MPI_COMM_WORLD);
    }
}

int MPI_Init(int *count, char ***arguments)
{
    recording = mine = 1;
    enter("MPI_Init");
    int code = PMPI_Init(count, arguments);
    begin_recording();
    leave();
    return code;
}
int MPI_Init_thread(int *count, char ***arguments, int required, int *provided)
{
    recording = mine = 1;
    enter("MPI_Init_thread");
    int code = PMPI_Init_thread(count, arguments, required, provided);
    begin_recording();
    leave();
    return code;
}

QUIET static void write_all(void)
{
    char path[4096];
    if (!definitions)
        return;
    for (int at = 0; at < MOST_NAMES; at++)
        if (name_keys[at])
            fprintf(definitions, "name %d %s\n", at, name_keys[at]);
    fprintf(definitions, "elsewhere %llu -\n", (unsigned long long)elsewhere);
    fclose(definitions);
    snprintf(path, sizeof path, "%s/%d.events", getenv("REGIONPREDICT_TRACE"), world_rank);
    FILE *file = fopen(path, "wb");
    for (struct block *block = first_block; file && block; block = block->next)
        fwrite(block->records, sizeof *block->records, (size_t)block->used, file);
    if (file)
        fclose(file);
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

/* ---- messages ---- */

#define BLOCKING_SEND(call) \
    int MPI_##call(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) \
    { \
        enter("MPI_" #call); \
        if (to >= 0) \
            note(SEND, 0, bytes(count, type), to, comm_of(comm), tag); \
        int code = PMPI_##call(data, count, type, to, tag, comm); \
        leave(); \
        return code; \
    }
BLOCKING_SEND(Send)
BLOCKING_SEND(Ssend)
BLOCKING_SEND(Bsend)
BLOCKING_SEND(Rsend)

#define REQUESTED_SEND(call) \
    int MPI_##call(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
                   MPI_Request *request) \
    { \
        enter("MPI_" #call); \
        uint64_t begin = now(); /* the message may be received before the call is back */ \
        int code = PMPI_##call(data, count, type, to, tag, comm, request); \
        if (to >= 0) { \
            uint64_t number = post(*request, SEND_REQUEST, to, comm_of(comm), tag); \
            note_at(begin, SEND_REQUEST, number, bytes(count, type), to, comm_of(comm), tag); \
        } \
        leave(); \
        return code; \
    }
REQUESTED_SEND(Isend)
REQUESTED_SEND(Issend)
REQUESTED_SEND(Ibsend)
REQUESTED_SEND(Irsend)

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    MPI_Status own;
    MPI_Status *used = status == MPI_STATUS_IGNORE ? &own : status;
    enter("MPI_Recv");
    int code = PMPI_Recv(data, count, type, from, tag, comm, used);
    if (used->MPI_SOURCE >= 0)
        note(RECEIVE, 0, received(used), used->MPI_SOURCE, comm_of(comm), used->MPI_TAG);
    leave();
    return code;
}
int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    enter("MPI_Irecv");
    int code = PMPI_Irecv(data, count, type, from, tag, comm, request);
    if (from != MPI_PROC_NULL)
        note(RECEIVE_REQUEST, post(*request, RECEIVE_REQUEST, from, comm_of(comm), tag), 0, -1, -1,
             -1);
    leave();
    return code;
}
int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag,
                 void *in, int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status *status)
{
    MPI_Status own;
    MPI_Status *used = status == MPI_STATUS_IGNORE ? &own : status;
    enter("MPI_Sendrecv");
    if (to >= 0)
        note(SEND, 0, bytes(out_count, out_type), to, comm_of(comm), out_tag);
    int code = PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from,
                             in_tag, comm, used);
    if (used->MPI_SOURCE >= 0)
        note(RECEIVE, 0, received(used), used->MPI_SOURCE, comm_of(comm), used->MPI_TAG);
    leave();
    return code;
}
#define KEPT_SEND(call) \
    int MPI_##call(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
                   MPI_Request *request) \
    { \
        enter("MPI_" #call); \
        int code = PMPI_##call(data, count, type, to, tag, comm, request); \
        keep(*request, SEND_REQUEST, to, comm_of(comm), tag, bytes(count, type)); \
        leave(); \
        return code; \
    }
KEPT_SEND(Send_init)
KEPT_SEND(Ssend_init)
KEPT_SEND(Bsend_init)
KEPT_SEND(Rsend_init)

int MPI_Recv_init(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    enter("MPI_Recv_init");
    int code = PMPI_Recv_init(data, count, type, from, tag, comm, request);
    keep(*request, RECEIVE_REQUEST, from, comm_of(comm), tag, 0);
    leave();
    return code;
}
int MPI_Start(MPI_Request *request)
{
    enter("MPI_Start");
    uint64_t begin = now(); /* the message may be received before the call is back */
    int code = PMPI_Start(request);
    start(*request, begin);
    leave();
    return code;
}
int MPI_Startall(int count, MPI_Request list[])
{
    enter("MPI_Startall");
    uint64_t begin = now();
    int code = PMPI_Startall(count, list);
    for (int at = 0; at < count; at++)
        start(list[at], begin);
    leave();
    return code;
}
int MPI_Request_free(MPI_Request *request)
{
    struct pending *slot = slot_of(*request);
    if (slot)
        slot->number = 0;
    enter("MPI_Request_free");
    int code = PMPI_Request_free(request);
    leave();
    return code;
}
int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    MPI_Status own;
    MPI_Status *used = status == MPI_STATUS_IGNORE ? &own : status;
    MPI_Request before = *request;
    enter("MPI_Wait");
    int code = PMPI_Wait(request, used);
    complete(before, used);
    leave();
    return code;
}
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    MPI_Status own;
    MPI_Status *used = status == MPI_STATUS_IGNORE ? &own : status;
    MPI_Request before = *request;
    enter("MPI_Test");
    int code = PMPI_Test(request, flag, used);
    if (*flag)
        complete(before, used);
    leave();
    return code;
}

/* Requests as they were, and statuses of our own: calls for many. */
#define MANY(count) \
    size_t room = (size_t)((count) > 0 ? (count) : 1); \
    MPI_Request *before = malloc(room * sizeof *before); \
    MPI_Status *used = malloc(room * sizeof *used); \
    memcpy(before, list, (size_t)(count) * sizeof *before);

int MPI_Waitall(int count, MPI_Request list[], MPI_Status statuses[])
{
    MANY(count)
    enter("MPI_Waitall");
    int code = PMPI_Waitall(count, list, used);
    for (int at = 0; at < count; at++)
        complete(before[at], &used[at]);
    if (statuses != MPI_STATUSES_IGNORE)
        memcpy(statuses, used, (size_t)count * sizeof *used);
    leave();
    free(before), free(used);
    return code;
}
int MPI_Testall(int count, MPI_Request list[], int *flag, MPI_Status statuses[])
{
    MANY(count)
    enter("MPI_Testall");
    int code = PMPI_Testall(count, list, flag, used);
    for (int at = 0; *flag && at < count; at++)
        complete(before[at], &used[at]);
    if (*flag && statuses != MPI_STATUSES_IGNORE)
        memcpy(statuses, used, (size_t)count * sizeof *used);
    leave();
    free(before), free(used);
    return code;
}
int MPI_Waitany(int count, MPI_Request list[], int *index, MPI_Status *status)
{
    MANY(count)
    enter("MPI_Waitany");
    int code = PMPI_Waitany(count, list, index, used);
    if (*index != MPI_UNDEFINED)
        complete(before[*index], used);
    if (status != MPI_STATUS_IGNORE)
        *status = *used;
    leave();
    free(before), free(used);
    return code;
}
int MPI_Waitsome(int count, MPI_Request list[], int *done, int indices[], MPI_Status statuses[])
{
    MANY(count)
    enter("MPI_Waitsome");
    int code = PMPI_Waitsome(count, list, done, indices, used);
    for (int at = 0; *done != MPI_UNDEFINED && at < *done; at++)
        complete(before[indices[at]], &used[at]);
    if (*done != MPI_UNDEFINED && statuses != MPI_STATUSES_IGNORE)
        memcpy(statuses, used, (size_t)*done * sizeof *used);
    leave();
    free(before), free(used);
    return code;
}
int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    enter("MPI_Probe");
    int code = PMPI_Probe(from, tag, comm, status);
    leave();
    return code;
}

#include "mpi_collectives.h"
#include "mpi_neighbors.h"
#include "mpi_windows.h"
#include "mpi_named_calls.h"

/* ---- communicators, which all members number in the order in which they are made ---- */

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    enter("MPI_Comm_dup");
    int code = PMPI_Comm_dup(comm, made);
    comm_of(*made);
    leave();
    return code;
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    enter("MPI_Comm_split");
    int code = PMPI_Comm_split(comm, color, key, made);
    comm_of(*made);
    leave();
    return code;
}
int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *made)
{
    enter("MPI_Comm_create");
    int code = PMPI_Comm_create(comm, group, made);
    comm_of(*made);
    leave();
    return code;
}
int MPI_Cart_create(MPI_Comm comm, int count, const int sizes[], const int periodic[], int reorder,
                    MPI_Comm *made)
{
    enter("MPI_Cart_create");
    int code = PMPI_Cart_create(comm, count, sizes, periodic, reorder, made);
    int number = comm_of(*made);
    if (number >= 0 && count > 0) { /* a rank that is not in it has none */
        int *places = malloc((size_t)count * sizeof *places), place;
        PMPI_Comm_rank(*made, &place);
        if (places && !PMPI_Cart_coords(*made, place, count, places)) {
            fprintf(definitions, "grid %d", number);
            for (int at = 0; at < count; at++)
                fprintf(definitions, " %d %d %d", sizes[at], periodic[at] != 0, places[at]);
            fprintf(definitions, "\n");
        }
        free(places);
    }
    leave();
    return code;
}
int MPI_Comm_free(MPI_Comm *comm)
{
    enter("MPI_Comm_free");
    forget_comm(*comm);
    int code = PMPI_Comm_free(comm);
    leave();
    return code;
}

#include "mpi_fortran.h"
