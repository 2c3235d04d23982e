/* The entry points of Fortran: an MPI library's own call PMPI, past the functions of C here. Each
   converts its handles, as MPI-3.1, section 17.2.4, has them, and calls the function of C.
   The names are those of gfortran, flang and Intel's compiler (lower case, an underscore); those of
   the module mpi_f08 have the same arguments in Open MPI. Part of mpi_recorder.c, at its end. */

typedef MPI_Fint F;

extern char mpi_fortran_in_place_ __attribute__((weak)), mpi_fortran_bottom_ __attribute__((weak));
extern void *MPIR_F_MPI_IN_PLACE __attribute__((weak)), *MPIR_F_MPI_BOTTOM __attribute__((weak));

#ifndef MPI_F_STATUS_SIZE
#define MPI_F_STATUS_SIZE (sizeof(MPI_Status) / sizeof(F))
#endif

/* What stands for a buffer: the constants of Open MPI and of MPICH are addresses. */
QUIET static void *at(void *data)
{
    if (data && (data == &mpi_fortran_in_place_
                 || (&MPIR_F_MPI_IN_PLACE && data == MPIR_F_MPI_IN_PLACE)))
        return MPI_IN_PLACE;
    if (data && (data == &mpi_fortran_bottom_ || (&MPIR_F_MPI_BOTTOM && data == MPIR_F_MPI_BOTTOM)))
        return MPI_BOTTOM;
    return data;
}

QUIET static void set(F *error, int code)
{
    if (error) /* mpi_f08 may leave it out */
        *error = code;
}

QUIET static void give(MPI_Status *status, F *fortran)
{
    if (fortran != MPI_F_STATUS_IGNORE)
        PMPI_Status_c2f(status, fortran);
}

QUIET static void give_all(int count, MPI_Status *statuses, F *fortran)
{
    for (int k = 0; fortran != MPI_F_STATUSES_IGNORE && k < count; k++)
        PMPI_Status_c2f(&statuses[k], fortran + (size_t)k * MPI_F_STATUS_SIZE);
}

#ifdef OPEN_MPI
#define FORTRAN(name, parameters, body) \
    void mpi_##name##_ parameters body \
    void mpi_##name##_f08_ parameters __attribute__((alias("mpi_" #name "_")));
#else
#define FORTRAN(name, parameters, body) void mpi_##name##_ parameters body
#endif

#define COMM MPI_Comm_f2c(*comm)
#define KIND(type) MPI_Type_f2c(*type)
#define OP MPI_Op_f2c(*op)

FORTRAN(init, (F * error), { set(error, MPI_Init(NULL, NULL)); })
FORTRAN(init_thread, (F * required, F *provided, F *error), {
    int level;
    set(error, MPI_Init_thread(NULL, NULL, *required, &level));
    *provided = level;
})
FORTRAN(finalize, (F * error), { set(error, MPI_Finalize()); })

/* ---- messages ---- */

#define MESSAGE void *data, F *count, F *type, F *partner, F *tag, F *comm
#define WORDS at(data), *count, KIND(type), *partner, *tag, COMM
#define SENDS(name, call) \
    FORTRAN(name, (MESSAGE, F *error), { set(error, MPI_##call(WORDS)); })
#define REQUESTS_OF(name, call) \
    FORTRAN(name, (MESSAGE, F *request, F *error), { \
        MPI_Request made = MPI_REQUEST_NULL; \
        set(error, MPI_##call(WORDS, &made)); \
        *request = MPI_Request_c2f(made); \
    })
SENDS(send, Send)
SENDS(ssend, Ssend)
SENDS(bsend, Bsend)
SENDS(rsend, Rsend)
REQUESTS_OF(isend, Isend)
REQUESTS_OF(issend, Issend)
REQUESTS_OF(ibsend, Ibsend)
REQUESTS_OF(irsend, Irsend)
REQUESTS_OF(irecv, Irecv)
REQUESTS_OF(send_init, Send_init)
REQUESTS_OF(ssend_init, Ssend_init)
REQUESTS_OF(bsend_init, Bsend_init)
REQUESTS_OF(rsend_init, Rsend_init)
REQUESTS_OF(recv_init, Recv_init)
FORTRAN(recv, (MESSAGE, F *status, F *error), {
    MPI_Status own;
    set(error, MPI_Recv(WORDS, &own));
    give(&own, status);
})
FORTRAN(sendrecv,
        (void *out, F *out_count, F *out_type, F *to, F *out_tag, void *in, F *in_count, F *in_type,
         F *from, F *in_tag, F *comm, F *status, F *error), {
    MPI_Status own;
    set(error, MPI_Sendrecv(at(out), *out_count, KIND(out_type), *to, *out_tag, at(in), *in_count,
                            KIND(in_type), *from, *in_tag, COMM, &own));
    give(&own, status);
})
FORTRAN(sendrecv_replace,
        (void *data, F *count, F *type, F *to, F *out_tag, F *from, F *in_tag, F *comm, F *status,
         F *error), {
    MPI_Status own;
    set(error, MPI_Sendrecv_replace(at(data), *count, KIND(type), *to, *out_tag, *from, *in_tag,
                                    COMM, &own));
    give(&own, status);
})
FORTRAN(iprobe, (F * from, F *tag, F *comm, F *flag, F *status, F *error), {
    MPI_Status own;
    int there = 0;
    set(error, MPI_Iprobe(*from, *tag, COMM, &there, &own));
    *flag = there != 0;
    if (there)
        give(&own, status);
})
FORTRAN(probe, (F * from, F *tag, F *comm, F *status, F *error), {
    MPI_Status own;
    set(error, MPI_Probe(*from, *tag, COMM, &own));
    give(&own, status);
})

/* ---- requests ---- */

#define ONE_REQUEST(call) \
    MPI_Request own = MPI_Request_f2c(*request); \
    set(error, call); \
    *request = MPI_Request_c2f(own);
FORTRAN(start, (F * request, F *error), { ONE_REQUEST(MPI_Start(&own)) })
FORTRAN(request_free, (F * request, F *error), { ONE_REQUEST(MPI_Request_free(&own)) })
FORTRAN(wait, (F * request, F *status, F *error), {
    MPI_Status told;
    ONE_REQUEST(MPI_Wait(&own, &told))
    give(&told, status);
})
FORTRAN(test, (F * request, F *flag, F *status, F *error), {
    MPI_Status told;
    int done = 0;
    ONE_REQUEST(MPI_Test(&own, &done, &told))
    *flag = done != 0;
    if (done)
        give(&told, status);
})

#define MANY_REQUESTS(call) \
    size_t places = (size_t)(*count > 0 ? *count : 1); \
    MPI_Request *own = malloc(places * sizeof *own); \
    MPI_Status *told = malloc(places * sizeof *told); \
    for (int k = 0; k < *count; k++) \
        own[k] = MPI_Request_f2c(requests_of[k]); \
    set(error, call); \
    for (int k = 0; k < *count; k++) \
        requests_of[k] = MPI_Request_c2f(own[k]);
#define DONE free(own), free(told);
FORTRAN(startall, (F * count, F *requests_of, F *error), {
    MANY_REQUESTS(MPI_Startall(*count, own))
    DONE
})
FORTRAN(waitall, (F * count, F *requests_of, F *statuses, F *error), {
    MANY_REQUESTS(MPI_Waitall(*count, own, told))
    give_all(*count, told, statuses);
    DONE
})
FORTRAN(testall, (F * count, F *requests_of, F *flag, F *statuses, F *error), {
    int done = 0;
    MANY_REQUESTS(MPI_Testall(*count, own, &done, told))
    *flag = done != 0;
    if (done)
        give_all(*count, told, statuses);
    DONE
})
FORTRAN(waitany, (F * count, F *requests_of, F *index, F *status, F *error), {
    int which = MPI_UNDEFINED;
    MANY_REQUESTS(MPI_Waitany(*count, own, &which, told))
    *index = which == MPI_UNDEFINED ? which : which + 1;
    give(told, status);
    DONE
})
FORTRAN(testany, (F * count, F *requests_of, F *index, F *flag, F *status, F *error), {
    int which = MPI_UNDEFINED;
    int done = 0;
    MANY_REQUESTS(MPI_Testany(*count, own, &which, &done, told))
    *index = which == MPI_UNDEFINED ? which : which + 1;
    *flag = done != 0;
    if (done)
        give(told, status);
    DONE
})
#define SOME_OF(name, call) \
    FORTRAN(name, (F * count, F *requests_of, F *done, F *indices, F *statuses, F *error), { \
        int some = MPI_UNDEFINED; \
        MANY_REQUESTS(MPI_##call(*count, own, &some, indices, told)) \
        for (int k = 0; some != MPI_UNDEFINED && k < some; k++) \
            indices[k]++; \
        if (some != MPI_UNDEFINED) \
            give_all(some, told, statuses); \
        *done = some; \
        DONE \
    })
SOME_OF(waitsome, Waitsome)
SOME_OF(testsome, Testsome)

/* ---- collective operations ---- */

#define LAST F *comm, F *error
#define COLLECT(name, parameters, call) FORTRAN(name, parameters, { set(error, call); })
COLLECT(barrier, (LAST), MPI_Barrier(COMM))
COLLECT(bcast, (void *data, F *count, F *type, F *root, LAST),
        MPI_Bcast(at(data), *count, KIND(type), *root, COMM))
#define TWO void *out, F *sent, F *out_type, void *in, F *got, F *in_type
#define BOTH at(out), *sent, KIND(out_type), at(in), *got, KIND(in_type)
COLLECT(gather, (TWO, F *root, LAST), MPI_Gather(BOTH, *root, COMM))
COLLECT(scatter, (TWO, F *root, LAST), MPI_Scatter(BOTH, *root, COMM))
COLLECT(allgather, (TWO, LAST), MPI_Allgather(BOTH, COMM))
COLLECT(alltoall, (TWO, LAST), MPI_Alltoall(BOTH, COMM))
COLLECT(gatherv,
        (void *out, F *sent, F *out_type, void *in, F *got, F *places, F *in_type, F *root, LAST),
        MPI_Gatherv(at(out), *sent, KIND(out_type), at(in), got, places, KIND(in_type), *root,
                    COMM))
COLLECT(scatterv,
        (void *out, F *sent, F *places, F *out_type, void *in, F *got, F *in_type, F *root, LAST),
        MPI_Scatterv(at(out), sent, places, KIND(out_type), at(in), *got, KIND(in_type), *root,
                     COMM))
COLLECT(allgatherv, (void *out, F *sent, F *out_type, void *in, F *got, F *places, F *in_type, LAST),
        MPI_Allgatherv(at(out), *sent, KIND(out_type), at(in), got, places, KIND(in_type), COMM))
COLLECT(alltoallv,
        (void *out, F *sent, F *from, F *out_type, void *in, F *got, F *to, F *in_type, LAST),
        MPI_Alltoallv(at(out), sent, from, KIND(out_type), at(in), got, to, KIND(in_type), COMM))
#define REDUCE_OF void *out, void *in, F *count, F *type, F *op
#define REDUCE_WORDS at(out), at(in), *count, KIND(type), OP
COLLECT(allreduce, (REDUCE_OF, LAST), MPI_Allreduce(REDUCE_WORDS, COMM))
COLLECT(reduce, (REDUCE_OF, F *root, LAST), MPI_Reduce(REDUCE_WORDS, *root, COMM))
COLLECT(scan, (REDUCE_OF, LAST), MPI_Scan(REDUCE_WORDS, COMM))
COLLECT(exscan, (REDUCE_OF, LAST), MPI_Exscan(REDUCE_WORDS, COMM))
COLLECT(reduce_scatter_block, (REDUCE_OF, LAST), MPI_Reduce_scatter_block(REDUCE_WORDS, COMM))
COLLECT(reduce_scatter, (void *out, void *in, F *counts, F *type, F *op, LAST),
        MPI_Reduce_scatter(at(out), at(in), counts, KIND(type), OP, COMM))

#if MPI_VERSION >= 3
#define BEGIN(name, parameters, call) \
    FORTRAN(name, parameters, { \
        MPI_Request made = MPI_REQUEST_NULL; \
        set(error, call); \
        *request = MPI_Request_c2f(made); \
    })
#define BEGUN F *comm, F *request, F *error
BEGIN(ibarrier, (BEGUN), MPI_Ibarrier(COMM, &made))
BEGIN(ibcast, (void *data, F *count, F *type, F *root, BEGUN),
      MPI_Ibcast(at(data), *count, KIND(type), *root, COMM, &made))
BEGIN(igather, (TWO, F *root, BEGUN), MPI_Igather(BOTH, *root, COMM, &made))
BEGIN(iscatter, (TWO, F *root, BEGUN), MPI_Iscatter(BOTH, *root, COMM, &made))
BEGIN(iallgather, (TWO, BEGUN), MPI_Iallgather(BOTH, COMM, &made))
BEGIN(ialltoall, (TWO, BEGUN), MPI_Ialltoall(BOTH, COMM, &made))
BEGIN(iallreduce, (REDUCE_OF, BEGUN), MPI_Iallreduce(REDUCE_WORDS, COMM, &made))
BEGIN(ireduce, (REDUCE_OF, F *root, BEGUN), MPI_Ireduce(REDUCE_WORDS, *root, COMM, &made))
#endif

/* ---- communicators ---- */

#define MAKE(name, parameters, call) \
    FORTRAN(name, parameters, { \
        MPI_Comm result = MPI_COMM_NULL; \
        set(error, call); \
        *made = MPI_Comm_c2f(result); \
    })
MAKE(comm_dup, (F * comm, F *made, F *error), MPI_Comm_dup(COMM, &result))
MAKE(comm_split, (F * comm, F *color, F *key, F *made, F *error),
     MPI_Comm_split(COMM, *color, *key, &result))
MAKE(comm_create, (F * comm, F *group, F *made, F *error),
     MPI_Comm_create(COMM, MPI_Group_f2c(*group), &result))
MAKE(cart_create, (F * comm, F *count, F *sizes, F *periodic, F *reorder, F *made, F *error),
     MPI_Cart_create(COMM, *count, sizes, periodic, *reorder != 0, &result))
FORTRAN(cart_sub, (F * comm, F *kept, F *made, F *error), {
    MPI_Comm result = MPI_COMM_NULL;
    int dimensions = 0;
    PMPI_Cartdim_get(COMM, &dimensions);
    int flags[dimensions + 1];
    for (int k = 0; k < dimensions; k++)
        flags[k] = kept[k] != 0;
    set(error, MPI_Cart_sub(COMM, flags, &result));
    *made = MPI_Comm_c2f(result);
})
#if MPI_VERSION >= 3
MAKE(comm_split_type, (F * comm, F *kind, F *key, F *info, F *made, F *error),
     MPI_Comm_split_type(COMM, *kind, *key, MPI_Info_f2c(*info), &result))
#endif
FORTRAN(comm_free, (F * comm, F *error), {
    MPI_Comm own = COMM;
    set(error, MPI_Comm_free(&own));
    *comm = MPI_Comm_c2f(own);
})

/* ---- neighborhoods and one-sided communication ---- */

#if MPI_VERSION >= 3
COLLECT(neighbor_allgather, (TWO, LAST), MPI_Neighbor_allgather(BOTH, COMM))
COLLECT(neighbor_alltoall, (TWO, LAST), MPI_Neighbor_alltoall(BOTH, COMM))
COLLECT(neighbor_alltoallv,
        (void *out, F *sent, F *from, F *out_type, void *in, F *got, F *to, F *in_type, LAST),
        MPI_Neighbor_alltoallv(at(out), sent, from, KIND(out_type), at(in), got, to, KIND(in_type),
                               COMM))
BEGIN(ineighbor_allgather, (TWO, BEGUN), MPI_Ineighbor_allgather(BOTH, COMM, &made))
BEGIN(ineighbor_alltoall, (TWO, BEGUN), MPI_Ineighbor_alltoall(BOTH, COMM, &made))
BEGIN(ineighbor_alltoallv,
      (void *out, F *sent, F *from, F *out_type, void *in, F *got, F *to, F *in_type, BEGUN),
      MPI_Ineighbor_alltoallv(at(out), sent, from, KIND(out_type), at(in), got, to, KIND(in_type),
                              COMM, &made))

#define WIN MPI_Win_f2c(*window)
#define ENDS F *window, F *error
FORTRAN(win_create,
        (void *base, MPI_Aint *size, F *unit, F *info, F *comm, ENDS), {
    MPI_Win made = MPI_WIN_NULL;
    set(error, MPI_Win_create(at(base), *size, *unit, MPI_Info_f2c(*info), COMM, &made));
    *window = MPI_Win_c2f(made);
})
#define ALLOCATES(name, call) \
    FORTRAN(name, (MPI_Aint * size, F *unit, F *info, F *comm, void *base, ENDS), { \
        MPI_Win made = MPI_WIN_NULL; \
        set(error, call(*size, *unit, MPI_Info_f2c(*info), COMM, base, &made)); \
        *window = MPI_Win_c2f(made); \
    })
ALLOCATES(win_allocate, MPI_Win_allocate)
ALLOCATES(win_allocate_cptr, MPI_Win_allocate)
ALLOCATES(win_allocate_shared, MPI_Win_allocate_shared)
FORTRAN(win_free, (ENDS), {
    MPI_Win own = WIN;
    set(error, MPI_Win_free(&own));
    *window = MPI_Win_c2f(own);
})
COLLECT(win_fence, (F * assertion, ENDS), MPI_Win_fence(*assertion, WIN))
COLLECT(win_post, (F * group, F *assertion, ENDS),
        MPI_Win_post(MPI_Group_f2c(*group), *assertion, WIN))
COLLECT(win_start, (F * group, F *assertion, ENDS),
        MPI_Win_start(MPI_Group_f2c(*group), *assertion, WIN))
COLLECT(win_complete, (ENDS), MPI_Win_complete(WIN))
COLLECT(win_wait, (ENDS), MPI_Win_wait(WIN))
COLLECT(win_lock, (F * kind, F *rank, F *assertion, ENDS),
        MPI_Win_lock(*kind, *rank, *assertion, WIN))
COLLECT(win_unlock, (F * rank, ENDS), MPI_Win_unlock(*rank, WIN))
COLLECT(win_lock_all, (F * assertion, ENDS), MPI_Win_lock_all(*assertion, WIN))
COLLECT(win_unlock_all, (ENDS), MPI_Win_unlock_all(WIN))
COLLECT(win_flush, (F * rank, ENDS), MPI_Win_flush(*rank, WIN))
COLLECT(win_flush_all, (ENDS), MPI_Win_flush_all(WIN))
#define THERE_OF F *rank, MPI_Aint *place, F *there, F *there_type
#define THERE_WORDS *rank, *place, *there, KIND(there_type)
COLLECT(put, (void *data, F *count, F *type, THERE_OF, ENDS),
        MPI_Put(at(data), *count, KIND(type), THERE_WORDS, WIN))
COLLECT(get, (void *data, F *count, F *type, THERE_OF, ENDS),
        MPI_Get(at(data), *count, KIND(type), THERE_WORDS, WIN))
COLLECT(accumulate, (void *data, F *count, F *type, THERE_OF, F *op, ENDS),
        MPI_Accumulate(at(data), *count, KIND(type), THERE_WORDS, OP, WIN))
#endif
