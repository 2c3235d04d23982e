/* Calls that are recorded by name and time alone, so that an analysis can tell that it leaves them
   out: one-sided communication but for its synchronization, probes, and files.
   Part of mpi_recorder.c, behind what it notes with. */

#define NAMED(name, parameters, words) \
    int name parameters \
    { \
        enter(#name); \
        int code = P##name words; \
        leave(); \
        return code; \
    }

#define TYPE MPI_Datatype
NAMED(MPI_Probe, (int from, int tag, MPI_Comm comm, MPI_Status *status), (from, tag, comm, status))
NAMED(MPI_Iprobe, (int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status),
      (from, tag, comm, flag, status))
NAMED(MPI_Request_get_status, (MPI_Request request, int *flag, MPI_Status *status),
      (request, flag, status))
NAMED(MPI_Cancel, (MPI_Request * request), (request))

NAMED(MPI_File_open, (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file),
      (comm, name, mode, info, file))
NAMED(MPI_File_close, (MPI_File * file), (file))
NAMED(MPI_File_sync, (MPI_File file), (file))
NAMED(MPI_File_set_size, (MPI_File file, MPI_Offset size), (file, size))
NAMED(MPI_File_set_view,
      (MPI_File file, MPI_Offset place, TYPE type, TYPE file_type, const char *form, MPI_Info info),
      (file, place, type, file_type, form, info))
#define FILE_AT(name, data_type) \
    NAMED(MPI_File_##name, \
          (MPI_File file, MPI_Offset at, data_type data, int count, TYPE type, MPI_Status *status), \
          (file, at, data, count, type, status))
#define FILE_HERE(name, data_type) \
    NAMED(MPI_File_##name, \
          (MPI_File file, data_type data, int count, TYPE type, MPI_Status *status), \
          (file, data, count, type, status))
FILE_AT(read_at, void *)
FILE_AT(read_at_all, void *)
FILE_AT(write_at, const void *)
FILE_AT(write_at_all, const void *)
FILE_HERE(read, void *)
FILE_HERE(read_all, void *)
FILE_HERE(read_shared, void *)
FILE_HERE(read_ordered, void *)
FILE_HERE(write, const void *)
FILE_HERE(write_all, const void *)
FILE_HERE(write_shared, const void *)
FILE_HERE(write_ordered, const void *)

#if MPI_VERSION >= 3
NAMED(MPI_Comm_idup, (MPI_Comm comm, MPI_Comm *made, MPI_Request *request), (comm, made, request))
NAMED(MPI_Mrecv, (void *data, int count, TYPE type, MPI_Message *message, MPI_Status *status),
      (data, count, type, message, status))
NAMED(MPI_Imrecv, (void *data, int count, TYPE type, MPI_Message *message, MPI_Request *request),
      (data, count, type, message, request))
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
NAMED(MPI_Raccumulate,
      (const void *data, int count, TYPE type, THERE, MPI_Op op, MPI_Win window,
       MPI_Request *request),
      (data, count, type, rank, place, there, there_type, op, window, request))
NAMED(MPI_Rget_accumulate,
      (const void *data, int count, TYPE type, void *got, int got_count, TYPE got_type, THERE,
       MPI_Op op, MPI_Win window, MPI_Request *request),
      (data, count, type, got, got_count, got_type, rank, place, there, there_type, op, window,
       request))
NAMED(MPI_Win_flush, (int rank, MPI_Win window), (rank, window))
NAMED(MPI_Win_flush_all, (MPI_Win window), (window))
NAMED(MPI_Win_flush_local, (int rank, MPI_Win window), (rank, window))
NAMED(MPI_Win_flush_local_all, (MPI_Win window), (window))
NAMED(MPI_Win_sync, (MPI_Win window), (window))
#endif

#ifdef HAS_MPI_4
NAMED(MPI_Parrived, (MPI_Request request, int part, int *flag), (request, part, flag))
NAMED(MPI_Isendrecv,
      (const void *out, int sent, TYPE out_type, int to, int out_tag, void *in, int got,
       TYPE in_type, int from, int in_tag, MPI_Comm comm, MPI_Request *request),
      (out, sent, out_type, to, out_tag, in, got, in_type, from, in_tag, comm, request))
NAMED(MPI_Isendrecv_replace,
      (void *data, int count, TYPE type, int to, int out_tag, int from, int in_tag, MPI_Comm comm,
       MPI_Request *request),
      (data, count, type, to, out_tag, from, in_tag, comm, request))
#endif
