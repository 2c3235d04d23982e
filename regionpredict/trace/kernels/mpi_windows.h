/* Synchronization of one-sided communication. A fence, and the end of a window, is a barrier of its
   ranks. Post, start, complete and wait are messages without bytes: from who posts to who starts,
   and from who completes to who waits. Locks are noted as they are: recorded_locks.py finds who
   waits for whom.
   Part of mpi_recorder.c, behind what it notes with. */

#if MPI_VERSION >= 3
enum { MOST_WINDOWS = 256, POST_TAG = 0x7ffffc00, COMPLETE_TAG = POST_TAG + MOST_WINDOWS };

/* The ranks of a window's open epochs, in its communicator. */
struct epoch {
    int count, *ranks;
};
struct window {
    MPI_Win window;
    int used, communicator;
    int number; /* among the windows of its communicator */
    struct epoch access, exposure;
};
static struct window windows[MOST_WINDOWS];
static struct window unknown_window;
static int windows_of[MOST_COMMS]; /* by communicator */

QUIET static struct window *window_of(MPI_Win window)
{
    for (int at = 0; at < MOST_WINDOWS; at++)
        if (windows[at].used && windows[at].window == window)
            return &windows[at];
    unknown_window.communicator = -1;
    return &unknown_window;
}

QUIET static void keep_window(MPI_Win window, MPI_Comm comm)
{
    int of = comm_of(comm), free = 0;
    guard();
    while (free < MOST_WINDOWS && windows[free].used)
        free++;
    if (of >= 0 && free < MOST_WINDOWS)
        windows[free] = (struct window){window, 1, of, windows_of[of]++, {0, NULL}, {0, NULL}};
    unguard();
}

QUIET static void begin_epoch(struct epoch *epoch, MPI_Group group, MPI_Win window)
{
    int size = 0;
    MPI_Group all;
    PMPI_Group_size(group, &size);
    free(epoch->ranks);
    epoch->count = 0;
    epoch->ranks = malloc(2 * (size_t)(size + 1) * sizeof *epoch->ranks);
    if (!epoch->ranks)
        return;
    for (int at = 0; at < size; at++)
        epoch->ranks[size + at] = at;
    PMPI_Win_get_group(window, &all);
    PMPI_Group_translate_ranks(group, size, epoch->ranks + size, all, epoch->ranks);
    PMPI_Group_free(&all);
    epoch->count = size;
}

QUIET static void note_epoch(const struct epoch *epoch, int what, int first_tag,
                             const struct window *window)
{
    for (int at = 0; window != &unknown_window && at < epoch->count; at++)
        note(what, 0, 0, epoch->ranks[at], window->communicator,
             first_tag + window->number % MOST_WINDOWS);
}

#define WINDOW(name, parameters, words) \
    int name parameters \
    { \
        enter(#name); \
        int code = P##name words; \
        keep_window(*window, comm); \
        leave(); \
        return code; \
    }
WINDOW(MPI_Win_create,
       (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *window),
       (base, size, unit, info, comm, window))
WINDOW(MPI_Win_allocate,
       (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *window),
       (size, unit, info, comm, base, window))
WINDOW(MPI_Win_allocate_shared,
       (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *window),
       (size, unit, info, comm, base, window))
WINDOW(MPI_Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *window),
       (info, comm, window))

int MPI_Win_free(MPI_Win *window)
{
    struct window *known = window_of(*window);
    enter("MPI_Win_free");
    note(COLLECTIVE_BEGIN, 0, 0, -1, -1, -1);
    int code = PMPI_Win_free(window);
    note(COLLECTIVE_END, 0, 0, -1, known->communicator, 0);
    known->used = 0;
    leave();
    return code;
}
int MPI_Win_fence(int assertion, MPI_Win window)
{
    enter("MPI_Win_fence");
    note(COLLECTIVE_BEGIN, 0, 0, -1, -1, -1);
    int code = PMPI_Win_fence(assertion, window);
    note(COLLECTIVE_END, 0, 0, -1, window_of(window)->communicator, 0);
    leave();
    return code;
}
int MPI_Win_post(MPI_Group group, int assertion, MPI_Win window)
{
    struct window *known = window_of(window);
    begin_epoch(&known->exposure, group, window);
    enter("MPI_Win_post");
    note_epoch(&known->exposure, SEND, POST_TAG, known);
    int code = PMPI_Win_post(group, assertion, window);
    leave();
    return code;
}
int MPI_Win_start(MPI_Group group, int assertion, MPI_Win window)
{
    struct window *known = window_of(window);
    begin_epoch(&known->access, group, window);
    enter("MPI_Win_start");
    int code = PMPI_Win_start(group, assertion, window);
#ifdef OPEN_MPI /* waits for the posts here, others where the epoch is completed */
    note_epoch(&known->access, RECEIVE, POST_TAG, known);
#endif
    leave();
    return code;
}
int MPI_Win_complete(MPI_Win window)
{
    struct window *known = window_of(window);
    enter("MPI_Win_complete");
    note_epoch(&known->access, SEND, COMPLETE_TAG, known);
    int code = PMPI_Win_complete(window);
#ifndef OPEN_MPI
    note_epoch(&known->access, RECEIVE, POST_TAG, known);
#endif
    leave();
    return code;
}
int MPI_Win_wait(MPI_Win window)
{
    struct window *known = window_of(window);
    enter("MPI_Win_wait");
    int code = PMPI_Win_wait(window);
    note_epoch(&known->exposure, RECEIVE, COMPLETE_TAG, known);
    leave();
    return code;
}
int MPI_Win_test(MPI_Win window, int *flag)
{
    struct window *known = window_of(window);
    enter("MPI_Win_test");
    int code = PMPI_Win_test(window, flag);
    if (*flag)
        note_epoch(&known->exposure, RECEIVE, COMPLETE_TAG, known);
    leave();
    return code;
}

/* `rank` is -1 for all. */
QUIET static void note_lock(int what, uint64_t begin, int exclusive, int rank, MPI_Win window)
{
    struct window *known = window_of(window);
    if (known != &unknown_window)
        note(what, begin, (uint64_t)exclusive, rank, known->communicator, known->number);
}

#define LOCK(name, what, parameters, words, exclusive, rank) \
    int name parameters \
    { \
        enter(#name); \
        uint64_t begin = now(); \
        int code = P##name words; \
        note_lock(what, begin, exclusive, rank, window); \
        leave(); \
        return code; \
    }
LOCK(MPI_Win_lock, WINDOW_LOCK, (int kind, int rank, int assertion, MPI_Win window),
     (kind, rank, assertion, window), kind == MPI_LOCK_EXCLUSIVE, rank)
LOCK(MPI_Win_unlock, WINDOW_UNLOCK, (int rank, MPI_Win window), (rank, window), 0, rank)
LOCK(MPI_Win_lock_all, WINDOW_LOCK, (int assertion, MPI_Win window), (assertion, window), 0, -1)
LOCK(MPI_Win_unlock_all, WINDOW_UNLOCK, (MPI_Win window), (window), 0, -1)
#endif
