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

/* ---- non-blocking ones, complete where a call waits for or tests their request ---- */

#if MPI_VERSION >= 3
QUIET static void post_collective(MPI_Request request, int number, int root, MPI_Comm comm,
                                  uint64_t sent, uint64_t got, uint64_t time)
{
    uint64_t posted = post(request, COLLECTIVE_REQUEST, root, comm_of(comm), number);
    if (!posted)
        return;
    slot_of(request)->sent = sent;
    slot_of(request)->got = got;
    note_at(time, COLLECTIVE_REQUEST, posted, 0, -1, -1, -1);
}

#define TYPE MPI_Datatype
#define LATER MPI_Comm comm, MPI_Request *request
#define ALL(count, type) (bytes(count, type) * (uint64_t)size_of(comm))
#define OWN(count, type) (out == MPI_IN_PLACE ? 0 : bytes(count, type))
#define AT_ROOT(amount) (is_root(comm, root) ? (amount) : 0)

#define REQUESTED(name, number, root, sent, got, parameters, words) \
    int MPI_I##name parameters \
    { \
        enter("MPI_I" #name); \
        uint64_t begin = now(); \
        int code = PMPI_I##name words; \
        post_collective(*request, (number), (root), comm, (sent), (got), begin); \
        leave(); \
        return code; \
    }

REQUESTED(barrier, 0, -1, 0, 0, (LATER), (comm, request))
REQUESTED(bcast, 1, root, AT_ROOT(ALL(count, type)), bytes(count, type),
          (void *data, int count, TYPE type, int root, LATER),
          (data, count, type, root, comm, request))

#define BLOCKS (const void *out, int sent, TYPE out_type, void *in, int got, TYPE in_type, LATER)
#define ROOTED \
    (const void *out, int sent, TYPE out_type, void *in, int got, TYPE in_type, int root, LATER)
REQUESTED(gather, 2, root, OWN(sent, out_type), AT_ROOT(ALL(got, in_type)), ROOTED,
          (out, sent, out_type, in, got, in_type, root, comm, request))
REQUESTED(gatherv, 3, root, OWN(sent, out_type), AT_ROOT(summed(got, in_type, comm)),
          (const void *out, int sent, TYPE out_type, void *in, const int got[], const int places[],
           TYPE in_type, int root, LATER),
          (out, sent, out_type, in, got, places, in_type, root, comm, request))
REQUESTED(scatter, 4, root, AT_ROOT(ALL(sent, out_type)),
          in == MPI_IN_PLACE ? 0 : bytes(got, in_type), ROOTED,
          (out, sent, out_type, in, got, in_type, root, comm, request))
REQUESTED(scatterv, 5, root, AT_ROOT(summed(sent, out_type, comm)),
          in == MPI_IN_PLACE ? 0 : bytes(got, in_type),
          (const void *out, const int sent[], const int places[], TYPE out_type, void *in, int got,
           TYPE in_type, int root, LATER),
          (out, sent, places, out_type, in, got, in_type, root, comm, request))
REQUESTED(allgather, 6, -1, ALL(got, in_type), ALL(got, in_type), BLOCKS,
          (out, sent, out_type, in, got, in_type, comm, request))
REQUESTED(allgatherv, 7, -1, out == MPI_IN_PLACE ? 0 : ALL(sent, out_type),
          summed(got, in_type, comm),
          (const void *out, int sent, TYPE out_type, void *in, const int got[], const int places[],
           TYPE in_type, LATER),
          (out, sent, out_type, in, got, places, in_type, comm, request))
REQUESTED(alltoall, 8, -1, ALL(got, in_type), ALL(got, in_type), BLOCKS,
          (out, sent, out_type, in, got, in_type, comm, request))
REQUESTED(alltoallv, 9, -1, out == MPI_IN_PLACE ? 0 : summed(sent, out_type, comm),
          summed(got, in_type, comm),
          (const void *out, const int sent[], const int from[], TYPE out_type, void *in,
           const int got[], const int to[], TYPE in_type, LATER),
          (out, sent, from, out_type, in, got, to, in_type, comm, request))

#define REDUCED (const void *out, void *in, int count, TYPE type, MPI_Op op, LATER)
REQUESTED(allreduce, 11, -1, ALL(count, type), ALL(count, type), REDUCED,
          (out, in, count, type, op, comm, request))
REQUESTED(reduce, 12, root, bytes(count, type), AT_ROOT(ALL(count, type)),
          (const void *out, void *in, int count, TYPE type, MPI_Op op, int root, LATER),
          (out, in, count, type, op, root, comm, request))
REQUESTED(reduce_scatter, 13, -1, summed(counts, type, comm), summed(counts, type, comm),
          (const void *out, void *in, const int counts[], TYPE type, MPI_Op op, LATER),
          (out, in, counts, type, op, comm, request))
REQUESTED(scan, 14, -1, bytes(count, type), bytes(count, type), REDUCED,
          (out, in, count, type, op, comm, request))
REQUESTED(exscan, 15, -1, bytes(count, type), bytes(count, type), REDUCED,
          (out, in, count, type, op, comm, request))
REQUESTED(reduce_scatter_block, 16, -1, ALL(count, type), ALL(count, type), REDUCED,
          (out, in, count, type, op, comm, request))
#undef TYPE
#endif
