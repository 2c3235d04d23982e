/* Partitioned messages: sent when the sender says that the last part is ready.
   Part of mpi_recorder.c, behind what it notes with. */

#ifdef HAS_MPI_4
enum { PARTITION_TAG = 1 << 30 }; /* above the tags that programs use */

#define PARTITIONED(name, receives, data_type, to_or_from) \
    int MPI_##name(data_type data, int parts, MPI_Count count, MPI_Datatype type, int to_or_from, \
                   int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request) \
    { \
        enter("MPI_" #name); \
        int code = PMPI_##name(data, parts, count, type, to_or_from, tag, comm, info, request); \
        keep((struct pending){ \
            .request = *request, .kind = PARTITIONS, .partner = to_or_from, \
            .communicator = comm_of(comm), .tag = PARTITION_TAG | tag, \
            .sent = (uint64_t)parts * bytes((int)count, type), .parts = receives ? 0 : parts}); \
        leave(); \
        return code; \
    }
PARTITIONED(Psend_init, 0, const void *, to)
PARTITIONED(Precv_init, 1, void *, from)

QUIET static void ready(MPI_Request request, int parts)
{
    guard();
    struct pending *slot = slot_of(request);
    if (slot && slot->kind == PARTITIONS && slot->ready < slot->parts
        && (slot->ready += parts) >= slot->parts)
        note(SEND_REQUEST, slot->number, slot->sent, slot->partner, slot->communicator, slot->tag);
    unguard();
}

#define READY(name, parameters, words, parts) \
    int name parameters \
    { \
        enter(#name); \
        ready(request, parts); \
        int code = P##name words; \
        leave(); \
        return code; \
    }
READY(MPI_Pready, (int part, MPI_Request request), (part, request), 1)
READY(MPI_Pready_range, (int first, int last, MPI_Request request), (first, last, request),
      last - first + 1)
#ifdef OPEN_MPI
#define PARTS int list[]
#else
#define PARTS const int list[]
#endif
READY(MPI_Pready_list, (int count, PARTS, MPI_Request request), (count, list, request), count)
#endif
