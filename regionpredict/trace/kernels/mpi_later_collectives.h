/* Collective operations that a request completes: name in MPI_I, name in MPI_..._init, number in
   OTF2, root, bytes sent and received, parameters, and arguments. LATER and GIVEN are the last of
   these. Included by mpi_collectives.h for each of the two forms. */

REQUESTED(barrier, Barrier, 0, -1, 0, 0, (LATER), (GIVEN))
REQUESTED(bcast, Bcast, 1, root, AT_ROOT(ALL(count, type)), bytes(count, type),
          (void *data, int count, TYPE type, int root, LATER),
          (data, count, type, root, GIVEN))

#define BLOCKS (const void *out, int sent, TYPE out_type, void *in, int got, TYPE in_type, LATER)
#define ROOTED \
    (const void *out, int sent, TYPE out_type, void *in, int got, TYPE in_type, int root, LATER)
REQUESTED(gather, Gather, 2, root, OWN(sent, out_type), AT_ROOT(ALL(got, in_type)), ROOTED,
          (out, sent, out_type, in, got, in_type, root, GIVEN))
REQUESTED(gatherv, Gatherv, 3, root, OWN(sent, out_type), AT_ROOT(summed(got, in_type, comm)),
          (const void *out, int sent, TYPE out_type, void *in, const int got[], const int places[],
           TYPE in_type, int root, LATER),
          (out, sent, out_type, in, got, places, in_type, root, GIVEN))
REQUESTED(scatter, Scatter, 4, root, AT_ROOT(ALL(sent, out_type)),
          in == MPI_IN_PLACE ? 0 : bytes(got, in_type), ROOTED,
          (out, sent, out_type, in, got, in_type, root, GIVEN))
REQUESTED(scatterv, Scatterv, 5, root, AT_ROOT(summed(sent, out_type, comm)),
          in == MPI_IN_PLACE ? 0 : bytes(got, in_type),
          (const void *out, const int sent[], const int places[], TYPE out_type, void *in, int got,
           TYPE in_type, int root, LATER),
          (out, sent, places, out_type, in, got, in_type, root, GIVEN))
REQUESTED(allgather, Allgather, 6, -1, ALL(got, in_type), ALL(got, in_type), BLOCKS,
          (out, sent, out_type, in, got, in_type, GIVEN))
REQUESTED(allgatherv, Allgatherv, 7, -1, out == MPI_IN_PLACE ? 0 : ALL(sent, out_type),
          summed(got, in_type, comm),
          (const void *out, int sent, TYPE out_type, void *in, const int got[], const int places[],
           TYPE in_type, LATER),
          (out, sent, out_type, in, got, places, in_type, GIVEN))
REQUESTED(alltoall, Alltoall, 8, -1, ALL(got, in_type), ALL(got, in_type), BLOCKS,
          (out, sent, out_type, in, got, in_type, GIVEN))
REQUESTED(alltoallv, Alltoallv, 9, -1, out == MPI_IN_PLACE ? 0 : summed(sent, out_type, comm),
          summed(got, in_type, comm),
          (const void *out, const int sent[], const int from[], TYPE out_type, void *in,
           const int got[], const int to[], TYPE in_type, LATER),
          (out, sent, from, out_type, in, got, to, in_type, GIVEN))

REQUESTED(alltoallw, Alltoallw, 10, -1, out == MPI_IN_PLACE ? 0 : each(sent, out_types, comm),
          each(got, in_types, comm),
          (const void *out, const int sent[], const int from[], const TYPE out_types[], void *in,
           const int got[], const int to[], const TYPE in_types[], LATER),
          (out, sent, from, out_types, in, got, to, in_types, GIVEN))

#define REDUCED (const void *out, void *in, int count, TYPE type, MPI_Op op, LATER)
REQUESTED(allreduce, Allreduce, 11, -1, ALL(count, type), ALL(count, type), REDUCED,
          (out, in, count, type, op, GIVEN))
REQUESTED(reduce, Reduce, 12, root, bytes(count, type), AT_ROOT(ALL(count, type)),
          (const void *out, void *in, int count, TYPE type, MPI_Op op, int root, LATER),
          (out, in, count, type, op, root, GIVEN))
REQUESTED(reduce_scatter, Reduce_scatter, 13, -1, summed(counts, type, comm), summed(counts, type, comm),
          (const void *out, void *in, const int counts[], TYPE type, MPI_Op op, LATER),
          (out, in, counts, type, op, GIVEN))
REQUESTED(scan, Scan, 14, -1, bytes(count, type), bytes(count, type), REDUCED,
          (out, in, count, type, op, GIVEN))
REQUESTED(exscan, Exscan, 15, -1, bytes(count, type), bytes(count, type), REDUCED,
          (out, in, count, type, op, GIVEN))
REQUESTED(reduce_scatter_block, Reduce_scatter_block, 16, -1, ALL(count, type), ALL(count, type), REDUCED,
          (out, in, count, type, op, GIVEN))
#undef BLOCKS
#undef ROOTED
#undef REDUCED
