/* Times and memory of MPI collectives on the processes this program is started with.
 *
 * All processes start an operation at the same moment: each first learns how its clock differs
 * from that of process 0 (round trips, the shortest counts), then process 0 sets a time ahead.
 * The maximum over the processes is one result; a repetition that a process came late to is
 * thrown away and the window doubled; where that never ends, as with more processes than cores,
 * late ones are taken, and standard error says so. tree_bcast is a broadcast over a binary tree made of
 * sends and receives, whose growth is understood: the litmus test.
 *
 * Usage: mpi_collectives REPETITIONS BYTES
 * Output, comma-separated: callpath,metric,p,value   (time in seconds, memory in bytes)
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARM_UP = 5, ROUND_TRIPS = 30, MOST_RETRIES = 60 };

static int rank, size, bytes;
static double offset; /* this clock minus that of process 0 */
static char *out, *in;
static int crowded;   /* the processes do not start together, however long the window */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void learn_offset(void)
{
    for (int other = 1; other < size; other++) {
        double best = 1e9;
        for (int i = 0; i < ROUND_TRIPS; i++) {
            if (rank == 0) {
                double t;
                MPI_Recv(&t, 1, MPI_DOUBLE, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                t = now();
                MPI_Send(&t, 1, MPI_DOUBLE, other, 8, MPI_COMM_WORLD);
            } else if (rank == other) {
                double begun = now(), theirs;
                MPI_Send(&begun, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
                MPI_Recv(&theirs, 1, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                double ended = now();
                if (ended - begun < best) {
                    best = ended - begun;
                    offset = 0.5 * (begun + ended) - theirs;
                }
            }
        }
    }
}

static void op_barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void op_bcast(void) { MPI_Bcast(out, bytes, MPI_CHAR, 0, MPI_COMM_WORLD); }
static void op_reduce(void)
{
    MPI_Reduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}
static void op_allreduce(void)
{
    MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void op_gather(void)
{
    MPI_Gather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}
static void op_allgather(void)
{
    MPI_Allgather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
}
static void op_alltoall(void)
{
    MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
}
static void op_tree(void)
{
    if (rank > 0)
        MPI_Recv(out, bytes, MPI_CHAR, (rank - 1) / 2, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int child = 2 * rank + 1; child <= 2 * rank + 2 && child < size; child++)
        MPI_Send(out, bytes, MPI_CHAR, child, 9, MPI_COMM_WORLD);
}

/* One repetition: the maximum over the processes at process 0, -1 everywhere if one was late. */
static double timed(void (*operation)(void), double window)
{
    double start = now() + window;
    MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    start += offset;
    int late = now() > start, any = 0;
    while (now() < start) { if (crowded) sched_yield(); }
    double begun = now();
    operation();
    double mine = now() - begun, most = 0.0;
    MPI_Allreduce(&late, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return any && !crowded ? -1.0 : most;
}

static double heap(void)
{
    struct mallinfo2 info = mallinfo2();
    return (double)info.uordblks + (double)info.hblkhd;
}

/* Proportional set size of this process in bytes; 0 where the system does not say. */
static double resident(void)
{
    char line[256];
    double kilobytes = 0.0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Pss: %lf", &kilobytes) == 1) break;
    if (file) fclose(file);
    return 1024.0 * kilobytes;
}

static void report_memory(const char *name, double mine)
{
    double most = 0.0;
    MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s,memory,%d,%.17g\n", name, size, most);
}

/* Open MPI 4.1 without UCX makes no window for 1 process. The program goes on without it. */
static void report_window(void)
{
    MPI_Win window;
    double before = heap();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int refused = MPI_Win_create(out, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window) != MPI_SUCCESS;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    double mine = heap() - before;
    int any = 0;
    MPI_Allreduce(&refused, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!any) report_memory("MPI_Win_create", mine);
    else if (rank == 0)
        fprintf(stderr, "mpi_collectives: this MPI creates no window on %d process%s: MPI_Win_create is "
                        "not measured there\n",
                size, size == 1 ? "" : "es");
    if (!refused) MPI_Win_free(&window);
}

static void measure_memory(void)
{
    MPI_Comm made;
    MPI_Group group;
    int dims[2] = {0, 0}, periods[2] = {0, 0};
    double before = heap();
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &made);
    report_memory("MPI_Comm_create", heap() - before);
    MPI_Comm_free(&made);
    MPI_Group_free(&group);
    before = heap();
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    report_memory("MPI_Comm_dup", heap() - before);
    MPI_Comm_free(&made);
    report_window();
    MPI_Dims_create(size, 2, dims);
    before = heap();
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &made);
    report_memory("MPI_Cart_create", heap() - before);
    MPI_Comm_free(&made);
}

int main(int argc, char **argv)
{
    double before = resident();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int repetitions = argc > 1 ? atoi(argv[1]) : 50;
    bytes = argc > 2 ? atoi(argv[2]) : 256;
    if (repetitions < 1 || bytes < 8) {
        if (rank == 0) fprintf(stderr, "mpi_collectives: give 1 repetition and 8 bytes or more\n");
        MPI_Finalize();
        return 2;
    }
    double buffers = 2.0 * (double)bytes * (double)size;
    out = calloc((size_t)size, (size_t)bytes);
    in = calloc((size_t)size, (size_t)bytes);
    if (!out || !in) MPI_Abort(MPI_COMM_WORLD, 3);
    static const struct { const char *name; void (*operation)(void); } list[] = {
        {"MPI_Barrier", op_barrier},     {"MPI_Bcast", op_bcast},
        {"MPI_Reduce", op_reduce},       {"MPI_Allreduce", op_allreduce},
        {"MPI_Gather", op_gather},       {"MPI_Allgather", op_allgather},
        {"MPI_Alltoall", op_alltoall},   {"tree_bcast", op_tree},
    };
    learn_offset();
    for (size_t k = 0; k < sizeof list / sizeof list[0]; k++) {
        double window = 50e-6;
        int retries = 0;
        for (int r = -WARM_UP; r < repetitions;) {
            double seconds = timed(list[k].operation, window);
            if (seconds < 0.0) {
                if (window < 5e-3) window *= 2.0;
                if (++retries > MOST_RETRIES && !crowded) {
                    crowded = 1;
                    if (rank == 0)
                        fprintf(stderr, "mpi_collectives: %d processes do not start together: their times "
                                        "contain waiting; use no more of them than cores\n",
                                size);
                }
                continue;
            }
            if (rank == 0 && r >= 0) printf("%s,time,%d,%.9e\n", list[k].name, size, seconds);
            r++;
        }
    }
    measure_memory();
    report_memory("process", resident() - before - buffers);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
