/* Programs of one node that agree on the sizes of their teams.

   REGIONPREDICT_SHARE names a file that all of them map, REGIONPREDICT_SHARE_CORES the cores that
   they share. Each has a slot there, locked by a record lock of the process: the system releases
   it however the process ends, so that the cores of one that was killed are free for the others
   at their next region. At the entry of a region a program enters the speedups of that region,
   deals all cores out (each next one to the program that it makes faster by most) and takes as many
   as it gets, of those that the others do not hold. Between regions it holds one. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define PROGRAMS 64
#define MOST_CORES 256 /* that a curve tells apart */
#define WHOLE PROGRAMS /* the byte whose lock is that of all slots */

struct slot {
    volatile int taken; /* by a process, which may have ended since */
    volatile int held;  /* cores */
    volatile int known; /* entries of the curve, rising; 0: between regions */
    float speedup[MOST_CORES];
};

static struct {
    struct slot *slots; /* NULL: nothing is shared */
    int file, own, cores;
    pid_t process;
    volatile int busy;
} sharing = {NULL, -1, -1, 0, 0, 0};

extern int omp_get_level(void) __attribute__((weak));
extern int omp_get_max_threads(void) __attribute__((weak));

static int record_lock(int command, short type, int byte)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    int done;
    while ((done = fcntl(sharing.file, command, &lock)) < 0 && errno == EINTR) {
    }
    return done < 0 ? -1 : lock.l_type;
}

/* Whether another process that lives has a slot; frees it where that has ended. */
static int is_alive(int at)
{
    struct slot *slot = &sharing.slots[at];
    if (!slot->taken)
        return 0;
    if (record_lock(F_GETLK, F_WRLCK, at) != F_UNLCK)
        return 1;
    slot->taken = slot->held = slot->known = 0;
    return 0;
}

/* Opens the file and locks all slots; 0 where it is not this user's. Whoever ends last removes it,
   maybe between the two. */
static int open_locked(const char *path)
{
    struct stat status = {.st_nlink = 0};
    do {
        if (sharing.file >= 0)
            close(sharing.file);
        sharing.file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fstat(sharing.file, &status) < 0 || !S_ISREG(status.st_mode)
            || status.st_uid != geteuid() || record_lock(F_SETLKW, F_WRLCK, WHOLE) != F_WRLCK
            || fstat(sharing.file, &status) < 0)
            return 0;
    } while (!status.st_nlink);
    return 1;
}

static void join_others(void)
{
    const char *path = getenv("REGIONPREDICT_SHARE"), *cores = getenv("REGIONPREDICT_SHARE_CORES");
    const size_t size = PROGRAMS * sizeof(struct slot);
    void *mapped;
    int at;
    if (!path || !cores || !omp_get_max_threads)
        return;
    /* Room for all of it: what writes into a page of a full file system is killed. */
    if (!open_locked(path) || posix_fallocate(sharing.file, 0, (off_t)size) != 0
        || (mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, sharing.file, 0))
               == MAP_FAILED) {
        close(sharing.file);
        return;
    }
    sharing.cores = atoi(cores);
    sharing.slots = (struct slot *)mapped;
    for (at = 0; at < PROGRAMS && sharing.own < 0; at++)
        if (!is_alive(at) && record_lock(F_SETLK, F_WRLCK, at) == F_WRLCK) {
            sharing.own = at;
            sharing.slots[at].known = 0;
            sharing.slots[at].held = sharing.slots[at].taken = 1;
        }
    record_lock(F_SETLK, F_UNLCK, WHOLE);
    sharing.process = getpid();
    if (sharing.own < 0)
        sharing.slots = NULL;
}

/* How many times as fast a program is with so many cores: what is not known of it grows with
   them, what is not known beyond the end of a curve stays. */
static double faster(const struct slot *slot, int cores)
{
    int known = slot->known, at;
    if (known <= 0)
        return 1.0; /* between regions one core does all */
    at = cores < known ? cores : known;
    return slot->speedup[at - 1] > 1.0f ? slot->speedup[at - 1] : 1.0;
}

/* The cores that are this program's when all are dealt out. */
static int dealt_out(const int *alive)
{
    int cores[PROGRAMS], left = sharing.cores, at;
    for (at = 0; at < PROGRAMS; at++) {
        cores[at] = alive[at];
        left -= alive[at];
    }
    while (left > 0) {
        double best = 0.0;
        int chosen = -1, step = 0, more;
        for (at = 0; at < PROGRAMS; at++) {
            const struct slot *slot = &sharing.slots[at];
            const int known = slot->known;
            const double now = faster(slot, cores[at]);
            if (!alive[at])
                continue;
            for (more = 1; more <= left && cores[at] + more <= known; more++) {
                double gain = (faster(slot, cores[at] + more) - now) / (more * now);
                if (gain > best || (gain == best && chosen >= 0 && cores[at] < cores[chosen])) {
                    best = gain;
                    chosen = at;
                    step = more;
                }
            }
        }
        if (chosen < 0)
            break;
        cores[chosen] += step;
        left -= step;
    }
    return cores[sharing.own];
}

/* The threads for a region that would have `most`, with its speedups (none: they grow with the
   threads); one that is `fixed` has these, whatever the others hold. To be followed by
   `leave_region` where it is above 0; 0: nothing is shared here. */
static int enter_region(int most, int fixed, const float *speedup, int known)
{
    int alive[PROGRAMS], at, others = 0, team;
    struct slot *own;
    if (!sharing.slots || (omp_get_level && omp_get_level() > 0) || sharing.process != getpid())
        return 0;
    if (__atomic_exchange_n(&sharing.busy, 1, __ATOMIC_ACQUIRE))
        return 0; /* another thread of this program has a team of its own */
    own = &sharing.slots[sharing.own];
    record_lock(F_SETLKW, F_WRLCK, WHOLE);
    own->known = most < MOST_CORES ? most : MOST_CORES;
    for (at = 0; at < own->known; at++)
        own->speedup[at] = known <= 0 ? (float)(at + 1) : speedup[at < known ? at : known - 1];
    for (at = 0; at < PROGRAMS; at++) {
        alive[at] = at == sharing.own || is_alive(at);
        if (alive[at] && at != sharing.own)
            others += sharing.slots[at].held;
    }
    team = fixed ? most : dealt_out(alive);
    if (!fixed && team > sharing.cores - others)
        team = sharing.cores - others;
    if (team > most)
        team = most;
    if (team < 1)
        team = 1;
    own->held = team;
    record_lock(F_SETLK, F_UNLCK, WHOLE);
    return team;
}

static void leave_region(void)
{
    struct slot *own = &sharing.slots[sharing.own];
    own->known = 0;
    own->held = 1;
    __atomic_store_n(&sharing.busy, 0, __ATOMIC_RELEASE);
}
