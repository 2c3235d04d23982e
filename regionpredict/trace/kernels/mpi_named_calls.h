/* Calls that are recorded by name and time alone, so that an analysis can tell that it leaves them
   out: neighborhood collectives and one-sided communication.
   Part of mpi_recorder.c, behind what it notes with. */

#define NAMED(name, parameters, words) \
    int name parameters \
    { \
        enter(#name); \
        int code = P##name words; \
        leave(); \
        return code; \
    }

#if MPI_VERSION >= 3
#define TYPE MPI_Datatype
#define NEIGHBORS \
    (const void *out, int sent, TYPE out_type, void *in, int got, TYPE in_type, MPI_Comm comm)
NAMED(MPI_Neighbor_allgather, NEIGHBORS, (out, sent, out_type, in, got, in_type, comm))
NAMED(MPI_Neighbor_alltoall, NEIGHBORS, (out, sent, out_type, in, got, in_type, comm))
NAMED(MPI_Neighbor_alltoallv,
      (const void *out, const int sent[], const int from[], TYPE out_type, void *in,
       const int got[], const int to[], TYPE in_type, MPI_Comm comm),
      (out, sent, from, out_type, in, got, to, in_type, comm))

#define THERE int rank, MPI_Aint place, int there, TYPE there_type
NAMED(MPI_Put, (const void *data, int count, TYPE type, THERE, MPI_Win window),
      (data, count, type, rank, place, there, there_type, window))
NAMED(MPI_Get, (void *data, int count, TYPE type, THERE, MPI_Win window),
      (data, count, type, rank, place, there, there_type, window))
NAMED(MPI_Accumulate, (const void *data, int count, TYPE type, THERE, MPI_Op op, MPI_Win window),
      (data, count, type, rank, place, there, there_type, op, window))
NAMED(MPI_Fetch_and_op,
      (const void *data, void *got, TYPE type, int rank, MPI_Aint place, MPI_Op op, MPI_Win window),
      (data, got, type, rank, place, op, window))
NAMED(MPI_Win_fence, (int assertion, MPI_Win window), (assertion, window))
NAMED(MPI_Win_lock, (int kind, int rank, int assertion, MPI_Win window),
      (kind, rank, assertion, window))
NAMED(MPI_Win_unlock, (int rank, MPI_Win window), (rank, window))
NAMED(MPI_Win_lock_all, (int assertion, MPI_Win window), (assertion, window))
NAMED(MPI_Win_unlock_all, (MPI_Win window), (window))
NAMED(MPI_Win_flush, (int rank, MPI_Win window), (rank, window))
NAMED(MPI_Win_flush_all, (MPI_Win window), (window))
NAMED(MPI_Win_start, (MPI_Group group, int assertion, MPI_Win window), (group, assertion, window))
NAMED(MPI_Win_complete, (MPI_Win window), (window))
NAMED(MPI_Win_post, (MPI_Group group, int assertion, MPI_Win window), (group, assertion, window))
NAMED(MPI_Win_wait, (MPI_Win window), (window))
#endif
