/* Neighborhood collectives, as what they are: messages to some ranks and from others, all asked for
   when the call begins and there when it ends.
   Part of mpi_recorder.c, behind what it notes with. */

enum { NEIGHBOR_TAG = 0x7ffffff0 };  /* none that programs use */

struct neighbors {
    int in, out;
    int *from, *to;
};

QUIET static struct neighbors neighbors_of(MPI_Comm comm)
{
    struct neighbors n = {0, 0, NULL, NULL};
    int kind = MPI_UNDEFINED, size = 0, weighted;
    PMPI_Topo_test(comm, &kind);
    if (kind == MPI_CART) {
        PMPI_Cartdim_get(comm, &size);
        n.in = n.out = 2 * size;
    } else if (kind == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, &n.in, &n.out, &weighted);
    } else if (kind == MPI_GRAPH) {
        int rank;
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors_count(comm, rank, &size);
        n.in = n.out = size;
    }
    n.from = malloc(2 * (size_t)(n.in + n.out + 1) * sizeof *n.from);
    if (!n.from)
        return (struct neighbors){0, 0, NULL, NULL};
    n.to = n.from + n.in;
    int *weights = n.to + n.out;
    if (kind == MPI_CART)
        for (int at = 0; at < size; at++) {
            PMPI_Cart_shift(comm, at, 1, &n.from[2 * at], &n.from[2 * at + 1]);
            n.to[2 * at] = n.from[2 * at];
            n.to[2 * at + 1] = n.from[2 * at + 1];
        }
    else if (kind == MPI_DIST_GRAPH)
        PMPI_Dist_graph_neighbors(comm, n.in, n.from, weights, n.out, n.to, weights + n.in);
    else if (kind == MPI_GRAPH) {
        int rank;
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors(comm, rank, size, n.from);
        memcpy(n.to, n.from, (size_t)size * sizeof *n.to);
    }
    return n;
}

/* The requests are numbered one after the other, those to receive first. */
#define NEIGHBORS(name, parameters, words, sent_to, got_from) \
    int name parameters \
    { \
        struct neighbors n = neighbors_of(comm); \
        uint64_t first = requests + 1; \
        requests += (uint64_t)(n.in + n.out); \
        enter(#name); \
        for (int at = 0; at < n.in; at++) \
            if (n.from[at] >= 0) \
                note(RECEIVE_REQUEST, first + (uint64_t)at, 0, -1, -1, -1); \
        for (int at = 0; at < n.out; at++) \
            if (n.to[at] >= 0) \
                note(SEND_REQUEST, first + (uint64_t)(n.in + at), sent_to, n.to[at], \
                     comm_of(comm), NEIGHBOR_TAG); \
        int code = P##name words; \
        for (int at = 0; at < n.in; at++) \
            if (n.from[at] >= 0) \
                note(RECEIVE_COMPLETE, first + (uint64_t)at, got_from, n.from[at], comm_of(comm), \
                     NEIGHBOR_TAG); \
        for (int at = 0; at < n.out; at++) \
            if (n.to[at] >= 0) \
                note(SEND_COMPLETE, first + (uint64_t)(n.in + at), 0, -1, -1, -1); \
        leave(); \
        free(n.from); \
        return code; \
    }

#if MPI_VERSION >= 3
NEIGHBORS(MPI_Neighbor_allgather,
          (const void *out, int sent, MPI_Datatype out_type, void *in, int got, MPI_Datatype in_type,
           MPI_Comm comm),
          (out, sent, out_type, in, got, in_type, comm), bytes(sent, out_type), bytes(got, in_type))
NEIGHBORS(MPI_Neighbor_allgatherv,
          (const void *out, int sent, MPI_Datatype out_type, void *in, const int got[],
           const int offsets[], MPI_Datatype in_type, MPI_Comm comm),
          (out, sent, out_type, in, got, offsets, in_type, comm), bytes(sent, out_type),
          bytes(got[at], in_type))
NEIGHBORS(MPI_Neighbor_alltoall,
          (const void *out, int sent, MPI_Datatype out_type, void *in, int got, MPI_Datatype in_type,
           MPI_Comm comm),
          (out, sent, out_type, in, got, in_type, comm), bytes(sent, out_type), bytes(got, in_type))
NEIGHBORS(MPI_Neighbor_alltoallv,
          (const void *out, const int sent[], const int from[], MPI_Datatype out_type, void *in,
           const int got[], const int to[], MPI_Datatype in_type, MPI_Comm comm),
          (out, sent, from, out_type, in, got, to, in_type, comm), bytes(sent[at], out_type),
          bytes(got[at], in_type))
NEIGHBORS(MPI_Neighbor_alltoallw,
          (const void *out, const int sent[], const MPI_Aint from[], const MPI_Datatype out_types[],
           void *in, const int got[], const MPI_Aint to[], const MPI_Datatype in_types[],
           MPI_Comm comm),
          (out, sent, from, out_types, in, got, to, in_types, comm), bytes(sent[at], out_types[at]),
          bytes(got[at], in_types[at]))
#endif
