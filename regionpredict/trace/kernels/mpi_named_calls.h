/* Calls that are recorded by name and time alone, so that an analysis can tell that it leaves them
   out: one-sided communication but for its synchronization, non-blocking neighborhood collectives,
   and partitioned communication.
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
#define NEIGHBORHOOD \
    (const void *out, int sent, TYPE out_type, void *in, int got, TYPE in_type, MPI_Comm comm, \
     MPI_Request *request)
NAMED(MPI_Ineighbor_allgather, NEIGHBORHOOD, (out, sent, out_type, in, got, in_type, comm, request))
NAMED(MPI_Ineighbor_alltoall, NEIGHBORHOOD, (out, sent, out_type, in, got, in_type, comm, request))
NAMED(MPI_Ineighbor_alltoallv,
      (const void *out, const int sent[], const int from[], TYPE out_type, void *in,
       const int got[], const int to[], TYPE in_type, MPI_Comm comm, MPI_Request *request),
      (out, sent, from, out_type, in, got, to, in_type, comm, request))

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
NAMED(MPI_Get_accumulate,
      (const void *data, int count, TYPE type, void *got, int got_count, TYPE got_type, THERE,
       MPI_Op op, MPI_Win window),
      (data, count, type, got, got_count, got_type, rank, place, there, there_type, op, window))
NAMED(MPI_Compare_and_swap,
      (const void *data, const void *compared, void *got, TYPE type, int rank, MPI_Aint place,
       MPI_Win window),
      (data, compared, got, type, rank, place, window))
NAMED(MPI_Rput, (const void *data, int count, TYPE type, THERE, MPI_Win window,
                 MPI_Request *request),
      (data, count, type, rank, place, there, there_type, window, request))
NAMED(MPI_Rget, (void *data, int count, TYPE type, THERE, MPI_Win window, MPI_Request *request),
      (data, count, type, rank, place, there, there_type, window, request))
NAMED(MPI_Win_lock, (int kind, int rank, int assertion, MPI_Win window),
      (kind, rank, assertion, window))
NAMED(MPI_Win_unlock, (int rank, MPI_Win window), (rank, window))
NAMED(MPI_Win_lock_all, (int assertion, MPI_Win window), (assertion, window))
NAMED(MPI_Win_unlock_all, (MPI_Win window), (window))
NAMED(MPI_Win_flush, (int rank, MPI_Win window), (rank, window))
NAMED(MPI_Win_flush_all, (MPI_Win window), (window))
NAMED(MPI_Win_flush_local, (int rank, MPI_Win window), (rank, window))
NAMED(MPI_Win_flush_local_all, (MPI_Win window), (window))
NAMED(MPI_Win_sync, (MPI_Win window), (window))
#endif

#if MPI_VERSION >= 4
NAMED(MPI_Psend_init,
      (const void *data, int parts, MPI_Count count, TYPE type, int to, int tag, MPI_Comm comm,
       MPI_Info info, MPI_Request *request),
      (data, parts, count, type, to, tag, comm, info, request))
NAMED(MPI_Precv_init,
      (void *data, int parts, MPI_Count count, TYPE type, int from, int tag, MPI_Comm comm,
       MPI_Info info, MPI_Request *request),
      (data, parts, count, type, from, tag, comm, info, request))
NAMED(MPI_Pready, (int part, MPI_Request request), (part, request))
NAMED(MPI_Pready_range, (int first, int last, MPI_Request request), (first, last, request))
NAMED(MPI_Parrived, (MPI_Request request, int part, int *flag), (request, part, flag))
#endif
