/* Reads the events of OTF2 archives into columns, by the C interface of the OTF2 library (3.0).

   The library is found at run time and nothing of its headers is needed: what is declared here is
   its ABI, as its documentation gives it. Each location's ENTER and LEAVE records are made to pair
   up while they are read; what had to be mended or passed over is counted. */

#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    ENTER, LEAVE, SEND, RECEIVE, SEND_REQUEST, SEND_COMPLETE, RECEIVE_REQUEST, RECEIVE_COMPLETE,
    REQUEST_TEST, REQUEST_CANCELLED, COLLECTIVE_BEGIN, COLLECTIVE_END, COLLECTIVE_REQUEST,
    COLLECTIVE_COMPLETE, FORK, JOIN, TEAM_BEGIN, TEAM_END, ACQUIRE_LOCK, RELEASE_LOCK
};

/* What is counted, in the order of `_NOTES` in otf2_reader.py. */
enum {
    NO_ENTER, OTHER_REGION, NO_LEAVE, BACKWARDS, BROKEN, ONE_SIDED, METRIC, TASK, FILE_IO, SAMPLE,
    PAUSE, UNKNOWN, PROBE, MATCHED_PROBE, NOTES
};

enum { PROGRAM = INT32_MIN, NONE = -1, NO_COLLECTIVE = 255, DEEPEST = 4096 };

struct table {
    int64_t capacity;  /* of the event columns, and of those of operations */
    int64_t events, operations;
    int64_t *time;
    uint8_t *kind;
    int32_t *region;
    int64_t *event;
    int32_t *partner, *communicator, *tag, *root;
    int64_t *sent, *received, *request;
    uint8_t *collective;
    int64_t *ends;   /* the number of events after each location */
    int64_t *notes;  /* NOTES for each location */
    int64_t readings, reading_room;  /* of counters; memory of our own, see rp_free_readings */
    struct reading *reading;
};

struct reading {
    int64_t event;   /* with which it was taken: the one that follows */
    uint64_t value;  /* as its bits are */
    uint32_t metric, place;  /* a class or instance, and which of its members */
    uint8_t type;
};

struct state {
    struct table *table;
    int64_t *notes;
    int64_t first;  /* event of the location */
    int64_t last;   /* time */
    int depth;
    int32_t stack[DEEPEST];
};

static bool add(struct state *state, uint64_t time, int kind, int32_t region)
{
    struct table *table = state->table;
    int64_t at = table->events;
    if (at + 1 >= table->capacity)
        return false;
    int64_t when = (int64_t)time;
    if (at > state->first && when < state->last) {
        state->notes[BACKWARDS]++;
        when = state->last;
    }
    state->last = when;
    table->time[at] = when;
    table->kind[at] = (uint8_t)kind;
    table->region[at] = region;
    table->events = at + 1;
    return true;
}

static bool operate(struct state *state, uint64_t time, int kind, uint32_t partner, uint32_t comm,
                    uint32_t tag, uint32_t root, int64_t sent, int64_t received, uint64_t request,
                    int collective)
{
    if (!add(state, time, kind, NONE))
        return false;
    struct table *table = state->table;
    int64_t at = table->operations++;
    table->event[at] = table->events - 1;
    table->partner[at] = (int32_t)partner;
    table->communicator[at] = (int32_t)comm;
    table->tag[at] = (int32_t)tag;
    table->root[at] = (int32_t)root;
    table->sent[at] = sent;
    table->received[at] = received;
    table->request[at] = (int64_t)request;
    table->collective[at] = (uint8_t)collective;
    return true;
}

static int enter(struct state *state, uint64_t time, int32_t region)
{
    if (state->depth == DEEPEST)
        return 1;
    state->stack[state->depth++] = region;
    return !add(state, time, ENTER, region);
}

static int leave(struct state *state, uint64_t time, int32_t region)
{
    int at = state->depth - 1;
    while (at >= 0 && state->stack[at] != region)
        at--;
    if (at < 0) {
        state->notes[state->depth ? OTHER_REGION : NO_ENTER]++;
        return 0;
    }
    for (; state->depth - 1 > at; state->depth--) {
        state->notes[NO_LEAVE]++;
        if (!add(state, time, LEAVE, state->stack[state->depth - 1]))
            return 1;
    }
    state->depth--;
    return !add(state, time, LEAVE, region);
}

#define HEAD uint64_t location, uint64_t time, uint64_t position, void *user, void *attributes
#define STATE (void)location, (void)position, (void)attributes; struct state *state = user
#define N UINT32_MAX

static int on_enter(HEAD, uint32_t region) { STATE; return enter(state, time, (int32_t)region); }
static int on_leave(HEAD, uint32_t region) { STATE; return leave(state, time, (int32_t)region); }

static int on_send(HEAD, uint32_t to, uint32_t comm, uint32_t tag, uint64_t size)
{
    STATE;
    return !operate(state, time, SEND, to, comm, tag, N, (int64_t)size, 0, UINT64_MAX, NO_COLLECTIVE);
}
static int on_isend(HEAD, uint32_t to, uint32_t comm, uint32_t tag, uint64_t size, uint64_t request)
{
    STATE;
    return !operate(state, time, SEND_REQUEST, to, comm, tag, N, (int64_t)size, 0, request,
                    NO_COLLECTIVE);
}
static int on_isend_complete(HEAD, uint64_t request)
{
    STATE;
    return !operate(state, time, SEND_COMPLETE, N, N, N, N, 0, 0, request, NO_COLLECTIVE);
}
static int on_irecv_request(HEAD, uint64_t request)
{
    STATE;
    return !operate(state, time, RECEIVE_REQUEST, N, N, N, N, 0, 0, request, NO_COLLECTIVE);
}
static int on_recv(HEAD, uint32_t from, uint32_t comm, uint32_t tag, uint64_t size)
{
    STATE;
    return !operate(state, time, RECEIVE, from, comm, tag, N, 0, (int64_t)size, UINT64_MAX,
                    NO_COLLECTIVE);
}
static int on_irecv(HEAD, uint32_t from, uint32_t comm, uint32_t tag, uint64_t size,
                    uint64_t request)
{
    STATE;
    return !operate(state, time, RECEIVE_COMPLETE, from, comm, tag, N, 0, (int64_t)size, request,
                    NO_COLLECTIVE);
}
static int on_test(HEAD, uint64_t request)
{
    STATE;
    return !operate(state, time, REQUEST_TEST, N, N, N, N, 0, 0, request, NO_COLLECTIVE);
}
static int on_cancelled(HEAD, uint64_t request)
{
    STATE;
    return !operate(state, time, REQUEST_CANCELLED, N, N, N, N, 0, 0, request, NO_COLLECTIVE);
}
static int on_collective_begin(HEAD)
{
    STATE;
    return !add(state, time, COLLECTIVE_BEGIN, NONE);
}
static int on_collective_end(HEAD, uint8_t op, uint32_t comm, uint32_t root, uint64_t sent,
                             uint64_t received)
{
    STATE;
    return !operate(state, time, COLLECTIVE_END, N, comm, N, root, (int64_t)sent,
                    (int64_t)received, UINT64_MAX, op);
}
static int on_collective_request(HEAD, uint64_t request)
{
    STATE;
    return !operate(state, time, COLLECTIVE_REQUEST, N, N, N, N, 0, 0, request, NO_COLLECTIVE);
}
static int on_collective_complete(HEAD, uint8_t op, uint32_t comm, uint32_t root, uint64_t sent,
                                  uint64_t received, uint64_t request)
{
    STATE;
    return !operate(state, time, COLLECTIVE_COMPLETE, N, comm, N, root, (int64_t)sent,
                    (int64_t)received, request, op);
}
static int on_fork(HEAD, uint8_t paradigm, uint32_t threads)
{
    STATE;
    (void)paradigm;
    return !operate(state, time, FORK, N, N, N, N, 0, 0, threads, NO_COLLECTIVE);
}
static int on_join(HEAD, uint8_t paradigm)
{
    STATE;
    (void)paradigm;
    return !add(state, time, JOIN, NONE);
}
static int on_omp_fork(HEAD, uint32_t threads)
{
    STATE;
    return !operate(state, time, FORK, N, N, N, N, 0, 0, threads, NO_COLLECTIVE);
}
static int on_omp_join(HEAD) { STATE; return !add(state, time, JOIN, NONE); }
static int on_team_begin(HEAD, uint32_t team)
{
    STATE;
    return !operate(state, time, TEAM_BEGIN, N, team, N, N, 0, 0, UINT64_MAX, NO_COLLECTIVE);
}
static int on_team_end(HEAD, uint32_t team)
{
    STATE;
    return !operate(state, time, TEAM_END, N, team, N, N, 0, 0, UINT64_MAX, NO_COLLECTIVE);
}
static int on_acquire(HEAD, uint8_t paradigm, uint32_t lock, uint32_t order)
{
    STATE;
    (void)paradigm;
    return !operate(state, time, ACQUIRE_LOCK, N, N, order, N, 0, 0, lock, NO_COLLECTIVE);
}
static int on_release(HEAD, uint8_t paradigm, uint32_t lock, uint32_t order)
{
    STATE;
    (void)paradigm;
    return !operate(state, time, RELEASE_LOCK, N, N, order, N, 0, 0, lock, NO_COLLECTIVE);
}
static int on_omp_acquire(HEAD, uint32_t lock, uint32_t order)
{
    STATE;
    return !operate(state, time, ACQUIRE_LOCK, N, N, order, N, 0, 0, lock, NO_COLLECTIVE);
}
static int on_omp_release(HEAD, uint32_t lock, uint32_t order)
{
    STATE;
    return !operate(state, time, RELEASE_LOCK, N, N, order, N, 0, 0, lock, NO_COLLECTIVE);
}
static int on_program_begin(HEAD, uint32_t name, uint32_t count, const uint32_t *arguments)
{
    STATE;
    (void)count, (void)arguments;
    return enter(state, time, (int32_t)(PROGRAM + (int64_t)name));
}
static int on_program_end(HEAD, int64_t status)
{
    STATE;
    (void)status;
    int32_t region = state->depth ? state->stack[0] : NONE;
    if (region >= NONE) { /* not begun by a record of its own */
        state->notes[NO_ENTER]++;
        return 0;
    }
    return leave(state, time, region);
}

#define COUNTER(name, note) \
    static int name(HEAD) { STATE; (void)time; state->notes[note]++; return 0; }
COUNTER(on_one_sided, ONE_SIDED)
COUNTER(on_task, TASK)
COUNTER(on_file, FILE_IO)
COUNTER(on_sample, SAMPLE)
COUNTER(on_pause, PAUSE)
COUNTER(on_unknown, UNKNOWN)
COUNTER(on_probe, PROBE)
COUNTER(on_matched, MATCHED_PROBE)

static int on_metric(HEAD, uint32_t metric, uint8_t count, const uint8_t *types,
                     const uint64_t *values)
{
    STATE;
    (void)time;
    struct table *table = state->table;
    if (table->readings + count > table->reading_room) {
        int64_t room = 2 * table->reading_room + 4096;
        struct reading *more = realloc(table->reading, (size_t)room * sizeof *more);
        if (!more) {
            state->notes[METRIC]++;
            return 0;
        }
        table->reading = more;
        table->reading_room = room;
    }
    for (uint8_t at = 0; at < count; at++)
        table->reading[table->readings++]
            = (struct reading){table->events, values[at], metric, at, types[at]};
    return 0;
}

void rp_free_readings(struct table *table)
{
    free(table->reading);
    table->reading = NULL;
    table->readings = table->reading_room = 0;
}

static const struct { const char *name; void *function; } CALLBACKS[] = {
    {"Enter", on_enter}, {"Leave", on_leave}, {"MpiSend", on_send}, {"MpiIsend", on_isend},
    {"MpiIsendComplete", on_isend_complete}, {"MpiIrecvRequest", on_irecv_request},
    {"MpiRecv", on_recv}, {"MpiIrecv", on_irecv}, {"MpiRequestTest", on_test},
    {"MpiRequestCancelled", on_cancelled}, {"MpiCollectiveBegin", on_collective_begin},
    {"MpiCollectiveEnd", on_collective_end},
    {"NonBlockingCollectiveRequest", on_collective_request},
    {"NonBlockingCollectiveComplete", on_collective_complete}, {"ThreadFork", on_fork},
    {"ThreadJoin", on_join}, {"OmpFork", on_omp_fork}, {"OmpJoin", on_omp_join},
    {"ThreadTeamBegin", on_team_begin}, {"ThreadTeamEnd", on_team_end},
    {"ThreadAcquireLock", on_acquire}, {"ThreadReleaseLock", on_release},
    {"OmpAcquireLock", on_omp_acquire}, {"OmpReleaseLock", on_omp_release},
    {"ProgramBegin", on_program_begin}, {"ProgramEnd", on_program_end},
    {"Metric", on_metric}, {"ThreadTaskCreate", on_task}, {"ThreadTaskSwitch", on_task},
    {"ThreadTaskComplete", on_task}, {"OmpTaskCreate", on_task}, {"OmpTaskSwitch", on_task},
    {"OmpTaskComplete", on_task}, {"RmaCollectiveBegin", on_one_sided},
    {"RmaCollectiveEnd", on_one_sided}, {"RmaGroupSync", on_one_sided},
    {"RmaRequestLock", on_one_sided}, {"RmaAcquireLock", on_one_sided},
    {"RmaTryLock", on_one_sided}, {"RmaReleaseLock", on_one_sided}, {"RmaSync", on_one_sided},
    {"RmaWaitChange", on_one_sided}, {"RmaPut", on_one_sided}, {"RmaGet", on_one_sided},
    {"RmaAtomic", on_one_sided}, {"CallingContextEnter", on_sample},
    {"CallingContextLeave", on_sample}, {"CallingContextSample", on_sample},
    {"IoOperationBegin", on_file}, {"BufferFlush", on_pause}, {"MeasurementOnOff", on_pause},
    {"Unknown", on_unknown}, {"MpiProbe", on_probe}, {"MpiMrecv", on_matched},
    {"MpiImrecvRequest", on_matched}, {"MpiImrecv", on_matched},
};

static int silent(void *user, const char *file, uint64_t line, const char *function, int code,
                  const char *format, va_list values)
{
    (void)user, (void)file, (void)line, (void)function, (void)format, (void)values;
    return code;
}

/* From here on the library's errors come back as codes and are not printed. */
int rp_silence(const char *library)
{
    void *handle = dlopen(library, RTLD_LAZY);
    void *(*install)(void *, void *);
    if (!handle)
        return 1;
    *(void **)&install = dlsym(handle, "OTF2_Error_RegisterCallback");
    if (!install)
        return 1;
    install((void *)silent, NULL);
    return 0;
}

static int find_setter(void *handle, const char *prefix, const char *name, const char *suffix,
                            void **function)
{
    char symbol[128] = "";
    strncat(symbol, prefix, 60);
    strncat(symbol, name, 40);
    strncat(symbol, suffix, 20);
    *function = dlsym(handle, symbol);
    return *function == NULL;
}

#define FIND(result, name, ...) \
    result (*name)(__VA_ARGS__); \
    *(void **)&name = dlsym(handle, "OTF2_" #name); \
    if (!name) \
        return 2;

/* Reads the locations. 0: done; 1: `capacity` is too small; 2: the library lacks something;
   3: the archive cannot be opened. A location that breaks off, or has fewer events than are
   `expected` of it or more than it can have at `most`, is counted as BROKEN: behind a cut or a wrong
   length the library reads whatever is there, without end. */
int rp_read(const char *library, const char *archive, const uint64_t *locations,
            const int64_t *expected, const int64_t *most, int64_t count, struct table *table)
{
    void *handle = dlopen(library, RTLD_LAZY);
    if (!handle)
        return 2;
    FIND(void *, Reader_Open, const char *)
    FIND(int, Reader_Close, void *)
    FIND(int, Reader_SetSerialCollectiveCallbacks, void *)
    FIND(int, Reader_SelectLocation, void *, uint64_t)
    FIND(int, Reader_OpenDefFiles, void *)
    FIND(void *, Reader_GetDefReader, void *, uint64_t)
    FIND(int, Reader_ReadAllLocalDefinitions, void *, void *, uint64_t *)
    FIND(int, Reader_CloseDefReader, void *, void *)
    FIND(int, Reader_CloseDefFiles, void *)
    FIND(int, Reader_OpenEvtFiles, void *)
    FIND(void *, Reader_GetEvtReader, void *, uint64_t)
    FIND(int, Reader_RegisterEvtCallbacks, void *, void *, void *, void *)
    FIND(int, Reader_ReadLocalEvents, void *, void *, uint64_t, uint64_t *)
    FIND(int, Reader_CloseEvtReader, void *, void *)
    FIND(int, EvtReader_ApplyMappingTables, void *, int)
    FIND(int, EvtReader_ApplyClockOffsets, void *, int)
    FIND(void *, EvtReaderCallbacks_New, void)
    FIND(void, EvtReaderCallbacks_Delete, void *)
    void *callbacks = EvtReaderCallbacks_New();
    for (size_t at = 0; at < sizeof CALLBACKS / sizeof *CALLBACKS; at++) {
        int (*set)(void *, void *);
        if (!find_setter(handle, "OTF2_EvtReaderCallbacks_Set", CALLBACKS[at].name, "Callback",
                              (void **)&set))
            set(callbacks, CALLBACKS[at].function);
    }
    void *reader = Reader_Open(archive);
    struct state *state = calloc(1, sizeof *state);
    if (!reader || !state) {
        free(state);
        EvtReaderCallbacks_Delete(callbacks);
        return 3;
    }
    Reader_SetSerialCollectiveCallbacks(reader);
    for (int64_t at = 0; at < count; at++)
        Reader_SelectLocation(reader, locations[at]);
    bool definitions = Reader_OpenDefFiles(reader) == 0;
    Reader_OpenEvtFiles(reader);
    uint64_t read = 0;
    for (int64_t at = 0; definitions && at < count; at++) {
        void *local = Reader_GetDefReader(reader, locations[at]);
        if (local) {
            Reader_ReadAllLocalDefinitions(reader, local, &read);
            Reader_CloseDefReader(reader, local);
        }
    }
    if (definitions)
        Reader_CloseDefFiles(reader);
    int result = 0;
    state->table = table;
    for (int64_t at = 0; at < count && !result; at++) {
        state->notes = table->notes + at * NOTES;
        state->first = table->events;
        state->depth = 0;
        state->last = 0;
        void *events = Reader_GetEvtReader(reader, locations[at]);
        if (events) {
            Reader_RegisterEvtCallbacks(reader, events, callbacks, state);
            EvtReader_ApplyMappingTables(events, 1);
            EvtReader_ApplyClockOffsets(events, 1);
            int code = Reader_ReadLocalEvents(reader, events, (uint64_t)most[at] + 1, &read);
            Reader_CloseEvtReader(reader, events);
            if (table->events + 1 >= table->capacity)
                result = 1;
            else if (code || (int64_t)read < expected[at] || (int64_t)read > most[at])
                state->notes[BROKEN]++;
        } else {
            state->notes[BROKEN]++;
        }
        for (; !result && state->depth; state->depth--) {
            state->notes[NO_LEAVE]++;
            if (!add(state, (uint64_t)state->last, LEAVE, state->stack[state->depth - 1]))
                result = 1;
        }
        table->ends[at] = table->events;
    }
    Reader_Close(reader);
    EvtReaderCallbacks_Delete(callbacks);
    free(state);
    return result;
}
