/* Neighborhood collectives, as what they are: messages to some ranks and from others, all asked for
   when the call begins, and there when it ends or when its request is completed.
   Part of mpi_recorder.c, behind what it notes with. */

#if MPI_VERSION >= 3
enum { NEIGHBOR_TAG = 0x7ffffff0 };  /* none that programs use */

/* Requests are numbered one after the other, those to receive first, as are ranks and bytes. */
struct neighbors {
    int in, out, communicator;
    uint64_t first; /* request */
    int *ranks;
    uint64_t bytes[];
};

QUIET static struct neighbors *neighbors_of(MPI_Comm comm)
{
    int kind = MPI_UNDEFINED, size = 0, in = 0, out = 0, rank = 0, weighted;
    PMPI_Topo_test(comm, &kind);
    PMPI_Comm_rank(comm, &rank);
    if (kind == MPI_CART) {
        PMPI_Cartdim_get(comm, &size);
        in = out = 2 * size;
    } else if (kind == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    } else if (kind == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, rank, &size);
        in = out = size;
    }
    size_t count = (size_t)(in + out);
    struct neighbors *all = calloc(1, sizeof *all + count * (sizeof(uint64_t) + 2 * sizeof(int)));
    if (!all)
        return NULL;
    all->in = in, all->out = out, all->communicator = comm_of(comm);
    all->ranks = (int *)&all->bytes[count];
    int *from = all->ranks, *to = from + in, *weights = to + out;
    if (kind == MPI_CART)
        for (int at = 0; at < size; at++)
            PMPI_Cart_shift(comm, at, 1, &from[2 * at], &from[2 * at + 1]);
    else if (kind == MPI_DIST_GRAPH)
        PMPI_Dist_graph_neighbors(comm, in, from, weights, out, to, weights + in);
    else if (kind == MPI_GRAPH)
        PMPI_Graph_neighbors(comm, rank, size, from);
    if (kind != MPI_DIST_GRAPH)
        memcpy(to, from, (size_t)in * sizeof *to);
    return all;
}

/* Each start has requests of its own. */
QUIET static void note_started(struct neighbors *all, uint64_t time)
{
    guard();
    all->first = requests + 1;
    requests += (uint64_t)(all->in + all->out);
    unguard();
    for (int at = 0; at < all->in + all->out; at++)
        if (all->ranks[at] < 0)
            continue;
        else if (at < all->in)
            note_at(time, RECEIVE_REQUEST, all->first + (uint64_t)at, 0, -1, -1, -1);
        else
            note_at(time, SEND_REQUEST, all->first + (uint64_t)at, all->bytes[at], all->ranks[at],
                    all->communicator, NEIGHBOR_TAG);
}

QUIET static void note_completed(const struct neighbors *all)
{
    for (int at = 0; at < all->in + all->out; at++)
        if (all->ranks[at] < 0)
            continue;
        else if (at < all->in)
            note(RECEIVE_COMPLETE, all->first + (uint64_t)at, all->bytes[at], all->ranks[at],
                 all->communicator, NEIGHBOR_TAG);
        else
            note(SEND_COMPLETE, all->first + (uint64_t)at, 0, -1, -1, -1);
}

#define FIND(sent_to, got_from) \
    struct neighbors *all = neighbors_of(comm); \
    for (int at = 0; all && at < all->in; at++) \
        all->bytes[at] = got_from; \
    for (int at = 0; all && at < all->out; at++) \
        all->bytes[all->in + at] = sent_to;

#define TYPE MPI_Datatype
#define ONE_SIZE (const void *out, int sent, TYPE out_type, void *in, int got, TYPE in_type, LAST)
#define NEIGHBOR_CALLS \
    CALL(allgather, ONE_SIZE, (out, sent, out_type, in, got, in_type, GIVEN), \
         bytes(sent, out_type), bytes(got, in_type)) \
    CALL(alltoall, ONE_SIZE, (out, sent, out_type, in, got, in_type, GIVEN), \
         bytes(sent, out_type), bytes(got, in_type)) \
    CALL(allgatherv, \
         (const void *out, int sent, TYPE out_type, void *in, const int got[], const int to[], \
          TYPE in_type, LAST), \
         (out, sent, out_type, in, got, to, in_type, GIVEN), bytes(sent, out_type), \
         bytes(got[at], in_type)) \
    CALL(alltoallv, \
         (const void *out, const int sent[], const int from[], TYPE out_type, void *in, \
          const int got[], const int to[], TYPE in_type, LAST), \
         (out, sent, from, out_type, in, got, to, in_type, GIVEN), bytes(sent[at], out_type), \
         bytes(got[at], in_type)) \
    CALL(alltoallw, \
         (const void *out, const int sent[], const MPI_Aint from[], const TYPE out_types[], \
          void *in, const int got[], const MPI_Aint to[], const TYPE in_types[], LAST), \
         (out, sent, from, out_types, in, got, to, in_types, GIVEN), \
         bytes(sent[at], out_types[at]), bytes(got[at], in_types[at]))

#define LAST MPI_Comm comm
#define GIVEN comm
#define CALL(name, parameters, words, sent_to, got_from) \
    int MPI_Neighbor_##name parameters \
    { \
        FIND(sent_to, got_from) \
        enter("MPI_Neighbor_" #name); \
        if (all) \
            note_started(all, now()); \
        int code = PMPI_Neighbor_##name words; \
        if (all) \
            note_completed(all); \
        leave(); \
        free(all); \
        return code; \
    }
NEIGHBOR_CALLS
#undef LAST
#undef GIVEN
#undef CALL

#define LAST MPI_Comm comm, MPI_Request *request
#define GIVEN comm, request
#define CALL(name, parameters, words, sent_to, got_from) \
    int MPI_Ineighbor_##name parameters \
    { \
        FIND(sent_to, got_from) \
        enter("MPI_Ineighbor_" #name); \
        uint64_t begin = now(); /* messages may be received before the call is back */ \
        int code = PMPI_Ineighbor_##name words; \
        if (all) { \
            note_started(all, begin); \
            post((struct pending){.request = *request, .kind = NEIGHBORHOOD, .neighbors = all}); \
        } \
        leave(); \
        return code; \
    }
NEIGHBOR_CALLS
#undef LAST
#undef GIVEN
#undef CALL

#ifdef HAS_MPI_4
#define LAST MPI_Comm comm, MPI_Info info, MPI_Request *request
#define GIVEN comm, info, request
#define CALL(name, parameters, words, sent_to, got_from) \
    int MPI_Neighbor_##name##_init parameters \
    { \
        FIND(sent_to, got_from) \
        enter("MPI_Neighbor_" #name "_init"); \
        int code = PMPI_Neighbor_##name##_init words; \
        if (all) \
            keep((struct pending){.request = *request, .kind = NEIGHBORHOOD, .neighbors = all}); \
        leave(); \
        return code; \
    }
NEIGHBOR_CALLS
#undef LAST
#undef GIVEN
#undef CALL
#endif
#undef TYPE
#endif
