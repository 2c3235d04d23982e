/* Communicators, which all members number in the order in which they are made.
   Part of mpi_recorder.c, behind what it notes with. */

#define MADE(name, parameters, words) \
    int name parameters \
    { \
        enter(#name); \
        int code = P##name words; \
        comm_of(*made); \
        leave(); \
        return code; \
    }
MADE(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
MADE(MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made))
MADE(MPI_Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))
MADE(MPI_Intercomm_create,
     (MPI_Comm comm, int leader, MPI_Comm peers, int remote, int tag, MPI_Comm *made),
     (comm, leader, peers, remote, tag, made))
MADE(MPI_Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made), (comm, high, made))
MADE(MPI_Graph_create,
     (MPI_Comm comm, int count, const int index[], const int edges[], int reorder, MPI_Comm *made),
     (comm, count, index, edges, reorder, made))
#if MPI_VERSION >= 3
MADE(MPI_Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made), (comm, info, made))
MADE(MPI_Comm_split_type, (MPI_Comm comm, int kind, int key, MPI_Info info, MPI_Comm *made),
     (comm, kind, key, info, made))
MADE(MPI_Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made),
     (comm, group, tag, made))
MADE(MPI_Dist_graph_create,
     (MPI_Comm comm, int count, const int from[], const int degrees[], const int to[],
      const int weights[], MPI_Info info, int reorder, MPI_Comm *made),
     (comm, count, from, degrees, to, weights, info, reorder, made))
MADE(MPI_Dist_graph_create_adjacent,
     (MPI_Comm comm, int in, const int from[], const int in_weights[], int out, const int to[],
      const int out_weights[], MPI_Info info, int reorder, MPI_Comm *made),
     (comm, in, from, in_weights, out, to, out_weights, info, reorder, made))
#endif

/* Writes down the grid of a communicator. A rank that is not in it has none. */
QUIET static void keep_grid(MPI_Comm comm)
{
    int number = comm_of(comm), count = 0;
    if (number < 0 || PMPI_Cartdim_get(comm, &count) || count < 1)
        return;
    int *sizes = malloc(3 * (size_t)count * sizeof *sizes);
    if (!sizes)
        return;
    int *periodic = sizes + count, *places = periodic + count;
    guard();
    if (!PMPI_Cart_get(comm, count, sizes, periodic, places)) {
        fprintf(definitions, "grid %d", number);
        for (int at = 0; at < count; at++)
            fprintf(definitions, " %d %d %d", sizes[at], periodic[at] != 0, places[at]);
        fprintf(definitions, "\n");
    }
    unguard();
    free(sizes);
}

int MPI_Cart_create(MPI_Comm comm, int count, const int sizes[], const int periodic[], int reorder,
                    MPI_Comm *made)
{
    enter("MPI_Cart_create");
    int code = PMPI_Cart_create(comm, count, sizes, periodic, reorder, made);
    keep_grid(*made);
    leave();
    return code;
}
int MPI_Cart_sub(MPI_Comm comm, const int kept[], MPI_Comm *made)
{
    enter("MPI_Cart_sub");
    int code = PMPI_Cart_sub(comm, kept, made);
    keep_grid(*made);
    leave();
    return code;
}
int MPI_Comm_free(MPI_Comm *comm)
{
    enter("MPI_Comm_free");
    forget_comm(*comm);
    int code = PMPI_Comm_free(comm);
    leave();
    return code;
}
