/* Collective operations, recorded under the numbers of OTF2's CollectiveOp.
   Part of mpi_recorder.c, behind what it notes with. */

#define COLLECTIVE(name, number, root, sent, got, call) \
    enter(name); \
    note(COLLECTIVE_BEGIN, 0, 0, -1, -1, -1); \
    int code = call; \
    note(COLLECTIVE_END, (sent), (got), (root), comm_of(comm), (number)); \
    leave(); \
    return code;

QUIET static int size_of(MPI_Comm comm)
{
    int size = 1;
    PMPI_Comm_size(comm, &size);
    return size;
}
QUIET static int is_root(MPI_Comm comm, int root)
{
    int rank = -1;
    PMPI_Comm_rank(comm, &rank);
    return rank == root;
}
QUIET static uint64_t summed(const int counts[], MPI_Datatype type, MPI_Comm comm)
{
    uint64_t sum = 0;
    for (int at = 0, size = size_of(comm); at < size; at++)
        sum += bytes(counts[at], type);
    return sum;
}

QUIET static uint64_t each(const int counts[], const MPI_Datatype types[], MPI_Comm comm)
{
    uint64_t sum = 0;
    for (int at = 0, size = size_of(comm); at < size; at++)
        sum += bytes(counts[at], types[at]);
    return sum;
}

int MPI_Barrier(MPI_Comm comm) { COLLECTIVE("MPI_Barrier", 0, -1, 0, 0, PMPI_Barrier(comm)) }
int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    COLLECTIVE("MPI_Bcast", 1, root,
               is_root(comm, root) ? bytes(count, type) * (uint64_t)size_of(comm) : 0,
               bytes(count, type), PMPI_Bcast(data, count, type, root, comm))
}
int MPI_Gather(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
               MPI_Datatype in_type, int root, MPI_Comm comm)
{
    int mine = is_root(comm, root);
    uint64_t got = mine ? bytes(in_count, in_type) * (uint64_t)size_of(comm) : 0;
    COLLECTIVE("MPI_Gather", 2, root, out == MPI_IN_PLACE ? 0 : bytes(out_count, out_type), got,
               PMPI_Gather(out, out_count, out_type, in, in_count, in_type, root, comm))
}
int MPI_Gatherv(const void *out, int out_count, MPI_Datatype out_type, void *in,
                const int in_counts[], const int offsets[], MPI_Datatype in_type, int root,
                MPI_Comm comm)
{
    uint64_t got = is_root(comm, root) ? summed(in_counts, in_type, comm) : 0;
    COLLECTIVE("MPI_Gatherv", 3, root, out == MPI_IN_PLACE ? 0 : bytes(out_count, out_type), got,
               PMPI_Gatherv(out, out_count, out_type, in, in_counts, offsets, in_type, root, comm))
}
int MPI_Scatter(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                MPI_Datatype in_type, int root, MPI_Comm comm)
{
    uint64_t sent = is_root(comm, root) ? bytes(out_count, out_type) * (uint64_t)size_of(comm) : 0;
    COLLECTIVE("MPI_Scatter", 4, root, sent, in == MPI_IN_PLACE ? 0 : bytes(in_count, in_type),
               PMPI_Scatter(out, out_count, out_type, in, in_count, in_type, root, comm))
}
int MPI_Scatterv(const void *out, const int out_counts[], const int offsets[],
                 MPI_Datatype out_type, void *in, int in_count, MPI_Datatype in_type, int root,
                 MPI_Comm comm)
{
    uint64_t sent = is_root(comm, root) ? summed(out_counts, out_type, comm) : 0;
    COLLECTIVE("MPI_Scatterv", 5, root, sent, in == MPI_IN_PLACE ? 0 : bytes(in_count, in_type),
               PMPI_Scatterv(out, out_counts, offsets, out_type, in, in_count, in_type, root, comm))
}
int MPI_Allgather(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                  MPI_Datatype in_type, MPI_Comm comm)
{
    uint64_t all = bytes(in_count, in_type) * (uint64_t)size_of(comm);
    COLLECTIVE("MPI_Allgather", 6, -1, all, all,
               PMPI_Allgather(out, out_count, out_type, in, in_count, in_type, comm))
}
int MPI_Allgatherv(const void *out, int out_count, MPI_Datatype out_type, void *in,
                   const int in_counts[], const int offsets[], MPI_Datatype in_type, MPI_Comm comm)
{
    COLLECTIVE("MPI_Allgatherv", 7, -1,
               out == MPI_IN_PLACE ? 0 : bytes(out_count, out_type) * (uint64_t)size_of(comm),
               summed(in_counts, in_type, comm),
               PMPI_Allgatherv(out, out_count, out_type, in, in_counts, offsets, in_type, comm))
}
int MPI_Alltoall(const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count,
                 MPI_Datatype in_type, MPI_Comm comm)
{
    uint64_t all = bytes(in_count, in_type) * (uint64_t)size_of(comm);
    COLLECTIVE("MPI_Alltoall", 8, -1, all, all,
               PMPI_Alltoall(out, out_count, out_type, in, in_count, in_type, comm))
}
int MPI_Alltoallv(const void *out, const int out_counts[], const int out_offsets[],
                  MPI_Datatype out_type, void *in, const int in_counts[], const int in_offsets[],
                  MPI_Datatype in_type, MPI_Comm comm)
{
    COLLECTIVE("MPI_Alltoallv", 9, -1,
               out == MPI_IN_PLACE ? 0 : summed(out_counts, out_type, comm),
               summed(in_counts, in_type, comm),
               PMPI_Alltoallv(out, out_counts, out_offsets, out_type, in, in_counts, in_offsets,
                              in_type, comm))
}
int MPI_Alltoallw(const void *out, const int out_counts[], const int out_offsets[],
                  const MPI_Datatype out_types[], void *in, const int in_counts[],
                  const int in_offsets[], const MPI_Datatype in_types[], MPI_Comm comm)
{
    COLLECTIVE("MPI_Alltoallw", 10, -1, out == MPI_IN_PLACE ? 0 : each(out_counts, out_types, comm),
               each(in_counts, in_types, comm),
               PMPI_Alltoallw(out, out_counts, out_offsets, out_types, in, in_counts, in_offsets,
                              in_types, comm))
}
int MPI_Allreduce(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    uint64_t all = bytes(count, type) * (uint64_t)size_of(comm);
    COLLECTIVE("MPI_Allreduce", 11, -1, all, all, PMPI_Allreduce(out, in, count, type, op, comm))
}
int MPI_Reduce(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm)
{
    uint64_t got = is_root(comm, root) ? bytes(count, type) * (uint64_t)size_of(comm) : 0;
    COLLECTIVE("MPI_Reduce", 12, root, bytes(count, type), got,
               PMPI_Reduce(out, in, count, type, op, root, comm))
}
int MPI_Reduce_scatter(const void *out, void *in, const int counts[], MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm)
{
    COLLECTIVE("MPI_Reduce_scatter", 13, -1, summed(counts, type, comm),
               summed(counts, type, comm), PMPI_Reduce_scatter(out, in, counts, type, op, comm))
}
int MPI_Reduce_scatter_block(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm)
{
    uint64_t all = bytes(count, type) * (uint64_t)size_of(comm);
    COLLECTIVE("MPI_Reduce_scatter_block", 16, -1, all, all,
               PMPI_Reduce_scatter_block(out, in, count, type, op, comm))
}
int MPI_Scan(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    COLLECTIVE("MPI_Scan", 14, -1, bytes(count, type), bytes(count, type),
               PMPI_Scan(out, in, count, type, op, comm))
}
int MPI_Exscan(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    COLLECTIVE("MPI_Exscan", 15, -1, bytes(count, type), bytes(count, type),
               PMPI_Exscan(out, in, count, type, op, comm))
}

/* ---- non-blocking and persistent ones: a call that waits for their request completes them ---- */

#if MPI_VERSION >= 3
#define TYPE MPI_Datatype
#define ALL(count, type) (bytes(count, type) * (uint64_t)size_of(comm))
#define OWN(count, type) (out == MPI_IN_PLACE ? 0 : bytes(count, type))
#define AT_ROOT(amount) (is_root(comm, root) ? (amount) : 0)

#define LATER MPI_Comm comm, MPI_Request *request
#define GIVEN comm, request
#define REQUESTED(name, kept, number, root, to, from, parameters, words) \
    int MPI_I##name parameters \
    { \
        enter("MPI_I" #name); \
        uint64_t begin = now(); \
        int code = PMPI_I##name words; \
        uint64_t posted = post((struct pending){ \
            .request = *request, .kind = COLLECTIVE_REQUEST, .partner = (root), \
            .communicator = comm_of(comm), .tag = (number), .sent = (to), .got = (from)}); \
        if (posted) \
            note_at(begin, COLLECTIVE_REQUEST, posted, 0, -1, -1, -1); \
        leave(); \
        return code; \
    }
#include "mpi_later_collectives.h"
#undef LATER
#undef GIVEN
#undef REQUESTED

#ifdef HAS_MPI_4
#define LATER MPI_Comm comm, MPI_Info info, MPI_Request *request
#define GIVEN comm, info, request
#define REQUESTED(name, kept, number, root, to, from, parameters, words) \
    int MPI_##kept##_init parameters \
    { \
        enter("MPI_" #kept "_init"); \
        int code = PMPI_##kept##_init words; \
        keep((struct pending){ \
            .request = *request, .kind = COLLECTIVE_REQUEST, .partner = (root), \
            .communicator = comm_of(comm), .tag = (number), .sent = (to), .got = (from)}); \
        leave(); \
        return code; \
    }
#include "mpi_later_collectives.h"
#undef LATER
#undef GIVEN
#undef REQUESTED
#endif
#undef TYPE
#endif
