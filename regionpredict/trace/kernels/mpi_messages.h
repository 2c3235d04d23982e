/* Messages: sends, receives, requests for them, and probes.
   Part of mpi_recorder.c, behind what it notes with. */

#define BLOCKING_SEND(call) \
    int MPI_##call(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) \
    { \
        enter("MPI_" #call); \
        if (to >= 0) \
            note(SEND, 0, bytes(count, type), to, comm_of(comm), tag); \
        int code = PMPI_##call(data, count, type, to, tag, comm); \
        leave(); \
        return code; \
    }
BLOCKING_SEND(Send)
BLOCKING_SEND(Ssend)
BLOCKING_SEND(Bsend)
BLOCKING_SEND(Rsend)

#define REQUESTED_SEND(call) \
    int MPI_##call(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
                   MPI_Request *request) \
    { \
        enter("MPI_" #call); \
        uint64_t begin = now(); /* the message may be received before the call is back */ \
        int code = PMPI_##call(data, count, type, to, tag, comm, request); \
        if (to >= 0) { \
            uint64_t number = post((struct pending){.request = *request, .kind = SEND_REQUEST}); \
            note_at(begin, SEND_REQUEST, number, bytes(count, type), to, comm_of(comm), tag); \
        } \
        leave(); \
        return code; \
    }
REQUESTED_SEND(Isend)
REQUESTED_SEND(Issend)
REQUESTED_SEND(Ibsend)
REQUESTED_SEND(Irsend)

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    MPI_Status own;
    MPI_Status *used = status == MPI_STATUS_IGNORE ? &own : status;
    enter("MPI_Recv");
    int code = PMPI_Recv(data, count, type, from, tag, comm, used);
    if (used->MPI_SOURCE >= 0)
        note(RECEIVE, 0, received(used), used->MPI_SOURCE, comm_of(comm), used->MPI_TAG);
    leave();
    return code;
}
int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    enter("MPI_Irecv");
    int code = PMPI_Irecv(data, count, type, from, tag, comm, request);
    if (from != MPI_PROC_NULL)
        note(RECEIVE_REQUEST,
             post((struct pending){.request = *request, .kind = RECEIVE_REQUEST,
                                   .communicator = comm_of(comm)}),
             0, -1, -1, -1);
    leave();
    return code;
}
int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag,
                 void *in, int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status *status)
{
    MPI_Status own;
    MPI_Status *used = status == MPI_STATUS_IGNORE ? &own : status;
    enter("MPI_Sendrecv");
    if (to >= 0)
        note(SEND, 0, bytes(out_count, out_type), to, comm_of(comm), out_tag);
    int code = PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from,
                             in_tag, comm, used);
    if (used->MPI_SOURCE >= 0)
        note(RECEIVE, 0, received(used), used->MPI_SOURCE, comm_of(comm), used->MPI_TAG);
    leave();
    return code;
}
int MPI_Sendrecv_replace(void *data, int count, MPI_Datatype type, int to, int out_tag, int from,
                         int in_tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own;
    MPI_Status *used = status == MPI_STATUS_IGNORE ? &own : status;
    enter("MPI_Sendrecv_replace");
    if (to >= 0)
        note(SEND, 0, bytes(count, type), to, comm_of(comm), out_tag);
    int code = PMPI_Sendrecv_replace(data, count, type, to, out_tag, from, in_tag, comm, used);
    if (used->MPI_SOURCE >= 0)
        note(RECEIVE, 0, received(used), used->MPI_SOURCE, comm_of(comm), used->MPI_TAG);
    leave();
    return code;
}
#define KEPT_SEND(call) \
    int MPI_##call(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
                   MPI_Request *request) \
    { \
        enter("MPI_" #call); \
        int code = PMPI_##call(data, count, type, to, tag, comm, request); \
        keep((struct pending){.request = *request, .kind = SEND_REQUEST, .partner = to, \
                              .communicator = comm_of(comm), .tag = tag, \
                              .sent = bytes(count, type)}); \
        leave(); \
        return code; \
    }
KEPT_SEND(Send_init)
KEPT_SEND(Ssend_init)
KEPT_SEND(Bsend_init)
KEPT_SEND(Rsend_init)

int MPI_Recv_init(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    enter("MPI_Recv_init");
    int code = PMPI_Recv_init(data, count, type, from, tag, comm, request);
    keep((struct pending){.request = *request, .kind = RECEIVE_REQUEST, .partner = from,
                          .communicator = comm_of(comm), .tag = tag});
    leave();
    return code;
}
int MPI_Start(MPI_Request *request)
{
    enter("MPI_Start");
    uint64_t begin = now(); /* the message may be received before the call is back */
    int code = PMPI_Start(request);
    start(*request, begin);
    leave();
    return code;
}
int MPI_Startall(int count, MPI_Request list[])
{
    enter("MPI_Startall");
    uint64_t begin = now();
    int code = PMPI_Startall(count, list);
    for (int at = 0; at < count; at++)
        start(list[at], begin);
    leave();
    return code;
}
int MPI_Request_free(MPI_Request *request)
{
    guard();
    struct pending *slot = slot_of(*request);
    if (slot)
        forget(slot);
    unguard();
    enter("MPI_Request_free");
    int code = PMPI_Request_free(request);
    leave();
    return code;
}
int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    MPI_Status own;
    MPI_Status *used = status == MPI_STATUS_IGNORE ? &own : status;
    struct pending before = known(*request);
    enter("MPI_Wait");
    int code = PMPI_Wait(request, used);
    complete(before, used);
    leave();
    return code;
}
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    MPI_Status own;
    MPI_Status *used = status == MPI_STATUS_IGNORE ? &own : status;
    struct pending before = known(*request);
    enter("MPI_Test");
    int code = PMPI_Test(request, flag, used);
    if (*flag)
        complete(before, used);
    leave();
    return code;
}

/* Requests as they were, and statuses of our own: calls for many. */
#define MANY(count) \
    size_t room = (size_t)((count) > 0 ? (count) : 1); \
    struct pending *before = malloc(room * sizeof *before); \
    MPI_Status *used = malloc(room * sizeof *used); \
    for (int at = 0; at < (count); at++) \
        before[at] = known(list[at]);

int MPI_Waitall(int count, MPI_Request list[], MPI_Status statuses[])
{
    MANY(count)
    enter("MPI_Waitall");
    int code = PMPI_Waitall(count, list, used);
    for (int at = 0; at < count; at++)
        complete(before[at], &used[at]);
    if (statuses != MPI_STATUSES_IGNORE)
        memcpy(statuses, used, (size_t)count * sizeof *used);
    leave();
    free(before), free(used);
    return code;
}
int MPI_Testall(int count, MPI_Request list[], int *flag, MPI_Status statuses[])
{
    MANY(count)
    enter("MPI_Testall");
    int code = PMPI_Testall(count, list, flag, used);
    for (int at = 0; *flag && at < count; at++)
        complete(before[at], &used[at]);
    if (*flag && statuses != MPI_STATUSES_IGNORE)
        memcpy(statuses, used, (size_t)count * sizeof *used);
    leave();
    free(before), free(used);
    return code;
}
int MPI_Waitany(int count, MPI_Request list[], int *index, MPI_Status *status)
{
    MANY(count)
    enter("MPI_Waitany");
    int code = PMPI_Waitany(count, list, index, used);
    if (*index != MPI_UNDEFINED)
        complete(before[*index], used);
    leave();
    if (status != MPI_STATUS_IGNORE)
        *status = *used;
    free(before), free(used);
    return code;
}
int MPI_Testany(int count, MPI_Request list[], int *index, int *flag, MPI_Status *status)
{
    MANY(count)
    enter("MPI_Testany");
    int code = PMPI_Testany(count, list, index, flag, used);
    if (*flag && *index != MPI_UNDEFINED)
        complete(before[*index], used);
    leave();
    if (*flag && status != MPI_STATUS_IGNORE)
        *status = *used;
    free(before), free(used);
    return code;
}
#define SOME(call) \
    int MPI_##call(int count, MPI_Request list[], int *done, int indices[], \
                   MPI_Status statuses[]) \
    { \
        MANY(count) \
        enter("MPI_" #call); \
        int code = PMPI_##call(count, list, done, indices, used); \
        for (int at = 0; *done != MPI_UNDEFINED && at < *done; at++) \
            complete(before[indices[at]], &used[at]); \
        leave(); \
        if (*done != MPI_UNDEFINED && statuses != MPI_STATUSES_IGNORE) \
            memcpy(statuses, used, (size_t)*done * sizeof *used); \
        free(before), free(used); \
        return code; \
    }
SOME(Waitsome)
SOME(Testsome)

#if MPI_VERSION >= 3
/* A message is received where it is matched: nothing else can receive it then. */
int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    MPI_Status own;
    MPI_Status *used = status == MPI_STATUS_IGNORE ? &own : status;
    enter("MPI_Mprobe");
    int code = PMPI_Mprobe(from, tag, comm, message, used);
    if (used->MPI_SOURCE >= 0)
        note(RECEIVE, 0, received(used), used->MPI_SOURCE, comm_of(comm), used->MPI_TAG);
    leave();
    return code;
}
int MPI_Improbe(int from, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                MPI_Status *status)
{
    MPI_Status own;
    MPI_Status *used = status == MPI_STATUS_IGNORE ? &own : status;
    enter("MPI_Improbe");
    int code = PMPI_Improbe(from, tag, comm, flag, message, used);
    if (*flag && used->MPI_SOURCE >= 0)
        note(RECEIVE, 0, received(used), used->MPI_SOURCE, comm_of(comm), used->MPI_TAG);
    leave();
    return code;
}
#endif
