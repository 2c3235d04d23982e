/* Stands in front of the OpenMP library: measures the parallel regions of a program that is not
   recompiled, and gives each the number of threads that its hint allows.

   REGIONPREDICT_LIMITS names a file of lines `threads line choices curve offset module`: the
   outlined function at that offset of that file (as nm shows it) starts no team larger than that,
   and never one larger than the program would have had. `choices` are `below:threads` with commas between,
   rising, or `-`: fewer iterations than that of the loop at `line` take so many threads. `curve` are
   speedups on one thread, two and so on with commas between, or `-`; programs that share a node
   deal out cores by them (shared_cores.h). Calls that
   the wrapper put around loops tell how many there are, for loops inside a `parallel` those of its
   last run. (gcc hands over trip counts of loops that it combines with their `parallel`, but
   combines only those whose bounds are constants.) REGIONPREDICT_OUTPUT names the file that one line of JSON for
   each outlined function is appended to at the end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shared_cores.h"

#define SLOTS 4096 /* outlined functions that can be told apart; a power of two */
#define MOST_ARGUMENTS 256
#define CHOICES 32 /* that one function is given at most */

struct choice {
    long long below;
    int threads;
};

struct entry {
    void *function; /* set last */
    int limit;
    int line, choices; /* of the loop whose iterations choose, and how many choices there are */
    struct choice choice[CHOICES];
    float *curve; /* speedups by threads */
    int known;    /* how many */
    long long last; /* iterations of that loop when it last ran, -1: not known */
    const char *module;
    unsigned long offset;
    volatile int lock;
    long long executions, total, least, most, first, counted, trips, least_trips, most_trips;
    int least_team, most_team, most_asked;
};

static struct entry entries[SLOTS];
static volatile int table_lock;
static char *limits;
static char output[4096];
static pid_t owner;
static long long started;

static void acquire(volatile int *lock)
{
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) {
    }
}

static void release(volatile int *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* -- which outlined function is it -------------------------------------------------------------- */

struct search {
    ElfW(Addr) address;
    unsigned long offset;
    char module[4096];
};

static int holds(struct dl_phdr_info *object, size_t size, void *data)
{
    struct search *search = (struct search *)data;
    int i;
    (void)size;
    for (i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        ElfW(Addr) begin = object->dlpi_addr + part->p_vaddr;
        const char *name = object->dlpi_name && object->dlpi_name[0] ? object->dlpi_name
                                                                      : "/proc/self/exe";
        if (part->p_type != PT_LOAD || search->address < begin
            || search->address >= begin + part->p_memsz)
            continue;
        search->offset = search->address - object->dlpi_addr;
        if (!realpath(name, search->module))
            strncpy(search->module, name, sizeof search->module - 1);
        return 1;
    }
    return 0;
}

/* `90:1,1100:7` as choices. */
static void read_choices(struct entry *entry, const char *text)
{
    while (entry->choices < CHOICES && *text >= '0' && *text <= '9') {
        char *rest;
        struct choice *choice = &entry->choice[entry->choices];
        choice->below = strtoll(text, &rest, 10);
        if (*rest != ':')
            return;
        choice->threads = (int)strtol(rest + 1, &rest, 10);
        entry->choices++;
        text = *rest == ',' ? rest + 1 : rest;
    }
}

/* `1,1.9,2.5` as speedups. */
static void read_curve(struct entry *entry, const char *text)
{
    entry->curve = (float *)calloc(MOST_CORES, sizeof *entry->curve);
    while (entry->curve && entry->known < MOST_CORES && *text >= '0' && *text <= '9') {
        char *rest;
        entry->curve[entry->known++] = strtof(text, &rest);
        text = *rest == ',' ? rest + 1 : rest;
    }
}

static void read_limit(struct entry *entry, const struct search *found)
{
    const char *line = limits;
    while (line && *line) {
        const char *end = strchr(line, '\n');
        char *rest;
        long threads = strtol(line, &rest, 10), loop = strtol(rest, &rest, 10);
        const char *choices = rest + strspn(rest, " ");
        const char *curve = choices + strcspn(choices, " ");
        curve += strspn(curve, " ");
        unsigned long offset = strtoul(curve + strcspn(curve, " "), &rest, 16);
        size_t length;
        if (!end)
            break;
        while (*rest == ' ')
            rest++;
        length = (size_t)(end - rest);
        if (offset == found->offset && strlen(found->module) == length
            && memcmp(rest, found->module, length) == 0) {
            entry->limit = (int)threads;
            entry->line = (int)loop;
            read_choices(entry, choices);
            read_curve(entry, curve);
            return;
        }
        line = end + 1;
    }
}

static struct entry *entry_of(void *function)
{
    size_t first = ((size_t)function >> 4) * 2654435761u % SLOTS, at = first;
    struct entry *entry;
    do {
        entry = &entries[at];
        void *known = __atomic_load_n(&entry->function, __ATOMIC_ACQUIRE);
        if (known == function)
            return entry;
        if (!known) {
            acquire(&table_lock);
            if (!entry->function) {
                static struct search search;
                memset(&search, 0, sizeof search);
                search.address = (ElfW(Addr))function;
                dl_iterate_phdr(holds, &search);
                entry->module = strdup(search.module);
                entry->offset = search.offset;
                entry->last = -1;
                read_limit(entry, &search);
                __atomic_store_n(&entry->function, function, __ATOMIC_RELEASE);
            }
            release(&table_lock);
            if (entry->function == function)
                return entry;
        }
        at = (at + 1) % SLOTS;
    } while (at != first);
    return NULL;
}

static __thread struct {
    int line;
    long long trips;
} coming = {0, -1}; /* the loop that starts a team next, and its iterations; -1: not known */
static __thread struct entry *running; /* whose team this thread is the first of */

/* Called by what the wrapper built: iterations of the loop at a line, inside a team or not. */
void regionpredict_trips_come(int line, long long trips, int inside)
{
    if (!inside) {
        coming.line = line;
        coming.trips = trips;
    } else if (running && running->line == line)
        __atomic_store_n(&running->last, trips, __ATOMIC_RELAXED);
}

/* The threads for so many iterations. */
static int chosen(const struct entry *entry, long long trips)
{
    int i;
    for (i = 0; trips >= 0 && i < entry->choices; i++)
        if (trips < entry->choice[i].below)
            return entry->choice[i].threads;
    return entry->limit;
}

/* The team to ask for: `asked` is the program's own wish, 0 for none. `shared` tells whether the
   region is to be left again where programs share a node. */
static unsigned team_of(const struct entry *entry, unsigned asked, int *shared)
{
    unsigned most = asked ? asked : omp_get_max_threads ? (unsigned)omp_get_max_threads() : 1;
    int limit = 0, fixed;
    if (entry && entry->choices) {
        long long trips = __atomic_load_n(&entry->last, __ATOMIC_RELAXED);
        if (coming.trips >= 0 && coming.line == entry->line)
            trips = coming.trips;
        limit = chosen(entry, trips);
    } else if (entry)
        limit = entry->limit;
    coming.trips = -1;
    if (limit > 0 && (unsigned)limit < most)
        asked = most = (unsigned)limit;
    /* A program may count on the size that it asks for, and on any that hints leave alone. */
    fixed = limits && limits[0] ? limit <= 0 : asked > 0;
    *shared = enter_region((int)most, fixed, entry ? entry->curve : NULL, entry ? entry->known : 0);
    return *shared > 0 && (unsigned)*shared < most ? (unsigned)*shared : asked;
}

static void note(struct entry *entry, long long begin, unsigned asked, unsigned team, long long trips,
                 int shared)
{
    long long spent = now() - begin;
    unsigned most = omp_get_max_threads ? (unsigned)omp_get_max_threads() : 1;
    int size = (int)(team ? team : most), wish = (int)(asked ? asked : most);
    if (shared)
        leave_region();
    if (!entry)
        return;
    acquire(&entry->lock);
    if (entry->executions++ == 0) {
        entry->first = entry->least = entry->most = spent;
        entry->least_team = entry->most_team = size;
    }
    entry->total += spent;
    if (spent < entry->least)
        entry->least = spent;
    if (spent > entry->most)
        entry->most = spent;
    if (size < entry->least_team)
        entry->least_team = size;
    if (size > entry->most_team)
        entry->most_team = size;
    if (wish > entry->most_asked)
        entry->most_asked = wish;
    if (trips >= 0) {
        if (entry->counted++ == 0)
            entry->least_trips = entry->most_trips = trips;
        entry->trips += trips;
        if (trips < entry->least_trips)
            entry->least_trips = trips;
        if (trips > entry->most_trips)
            entry->most_trips = trips;
    }
    release(&entry->lock);
}

/* -- programs built by gcc ---------------------------------------------------------------------- */

typedef void (*outlined)(void *);

/* The next definition of a function behind this library: the OpenMP library's own. */
#define NEXT(name, type)                                                                           \
    static __typeof__(type) next;                                                                              \
    if (!next)                                                                                     \
        next = (__typeof__(next))dlsym(RTLD_NEXT, name)

void GOMP_parallel(outlined fn, void *data, unsigned threads, unsigned flags)
{
    NEXT("GOMP_parallel", void (*)(outlined, void *, unsigned, unsigned));
    struct entry *entry = entry_of((void *)fn);
    int shared;
    unsigned team = team_of(entry, threads, &shared);
    struct entry *outer = running;
    long long begin = now();
    running = entry;
    next(fn, data, team, flags);
    running = outer;
    note(entry, begin, threads, team, -1, shared);
}

unsigned GOMP_parallel_reductions(outlined fn, void *data, unsigned threads, unsigned flags)
{
    NEXT("GOMP_parallel_reductions", unsigned (*)(outlined, void *, unsigned, unsigned));
    struct entry *entry = entry_of((void *)fn);
    int shared;
    unsigned team = team_of(entry, threads, &shared);
    struct entry *outer = running;
    long long begin = now();
    running = entry;
    unsigned made = next(fn, data, team, flags);
    running = outer;
    note(entry, begin, threads, team, -1, shared);
    return made;
}

void GOMP_parallel_sections(outlined fn, void *data, unsigned threads, unsigned count, unsigned flags)
{
    NEXT("GOMP_parallel_sections", void (*)(outlined, void *, unsigned, unsigned, unsigned));
    struct entry *entry = entry_of((void *)fn);
    int shared;
    unsigned team = team_of(entry, threads, &shared);
    struct entry *outer = running;
    long long begin = now();
    running = entry;
    next(fn, data, team, count, flags);
    running = outer;
    note(entry, begin, threads, team, -1, shared);
}

static long long turns(long start, long end, long step)
{
    long long distance = step > 0 ? (long long)end - start : (long long)start - end;
    long long size = step > 0 ? step : -(long long)step;
    return size == 0 || distance <= 0 ? 0 : (distance + size - 1) / size;
}

#define CHUNKED(name)                                                                              \
    void name(outlined fn, void *data, unsigned threads, long start, long end, long step,          \
              long chunk, unsigned flags)                                                          \
    {                                                                                              \
        NEXT(#name, void (*)(outlined, void *, unsigned, long, long, long, long, unsigned));       \
        struct entry *entry = entry_of((void *)fn);                                                \
        int shared;                                                                                \
        unsigned team = team_of(entry, threads, &shared);                                          \
        long long begin = now();                                                                   \
        next(fn, data, team, start, end, step, chunk, flags);                                      \
        note(entry, begin, threads, team, turns(start, end, step), shared);                        \
    }
#define UNCHUNKED(name)                                                                            \
    void name(outlined fn, void *data, unsigned threads, long start, long end, long step,          \
              unsigned flags)                                                                      \
    {                                                                                              \
        NEXT(#name, void (*)(outlined, void *, unsigned, long, long, long, unsigned));             \
        struct entry *entry = entry_of((void *)fn);                                                \
        int shared;                                                                                \
        unsigned team = team_of(entry, threads, &shared);                                          \
        long long begin = now();                                                                   \
        next(fn, data, team, start, end, step, flags);                                             \
        note(entry, begin, threads, team, turns(start, end, step), shared);                        \
    }

CHUNKED(GOMP_parallel_loop_static)
CHUNKED(GOMP_parallel_loop_dynamic)
CHUNKED(GOMP_parallel_loop_guided)
CHUNKED(GOMP_parallel_loop_nonmonotonic_dynamic)
CHUNKED(GOMP_parallel_loop_nonmonotonic_guided)
UNCHUNKED(GOMP_parallel_loop_runtime)
UNCHUNKED(GOMP_parallel_loop_nonmonotonic_runtime)
UNCHUNKED(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* -- programs built by clang -------------------------------------------------------------------- */

typedef void (*pusher)(void *, int, int);

static __thread int pushed; /* num_threads of the region that comes next */

void __kmpc_push_num_threads(void *place, int thread, int count)
{
    NEXT("__kmpc_push_num_threads", pusher);
    pushed = count;
    next(place, thread, count);
}

#define EIGHT(n) a[n], a[n + 1], a[n + 2], a[n + 3], a[n + 4], a[n + 5], a[n + 6], a[n + 7]
#define SIXTY_FOUR(n)                                                                              \
    EIGHT(n), EIGHT(n + 8), EIGHT(n + 16), EIGHT(n + 24), EIGHT(n + 32), EIGHT(n + 40),            \
        EIGHT(n + 48), EIGHT(n + 56)

void __kmpc_fork_call(void *place, int count, void *fn, ...)
{
    NEXT("__kmpc_fork_call", void (*)(void *, int, void *, ...));
    static pusher push;
    static int (*number)(void *);
    struct entry *entry = entry_of(fn);
    struct entry *outer = running;
    unsigned asked = pushed > 0 ? (unsigned)pushed : 0;
    int shared;
    unsigned team = team_of(entry, asked, &shared);
    void *a[MOST_ARGUMENTS] = {0};
    long long begin;
    va_list list;
    int i;
    va_start(list, fn);
    for (i = 0; i < count && i < MOST_ARGUMENTS; i++)
        a[i] = va_arg(list, void *);
    va_end(list);
    if (count > MOST_ARGUMENTS) {
        fprintf(stderr, "regionpredict: a parallel region with %d variables; at most %d\n", count,
                MOST_ARGUMENTS);
        abort();
    }
    if (!push) {
        number = (int (*)(void *))dlsym(RTLD_NEXT, "__kmpc_global_thread_num");
        push = (pusher)dlsym(RTLD_NEXT, "__kmpc_push_num_threads");
    }
    pushed = 0;
    if (team != asked)
        push(place, number(place), (int)team);
    begin = now();
    running = entry;
    /* The library reads `count` of them. */
    if (count <= 8)
        next(place, count, fn, EIGHT(0));
    else if (count <= 64)
        next(place, count, fn, SIXTY_FOUR(0));
    else
        next(place, count, fn, SIXTY_FOUR(0), SIXTY_FOUR(64), SIXTY_FOUR(128), SIXTY_FOUR(192));
    running = outer;
    note(entry, begin, asked, team, -1, shared);
}

/* -- begin and end ------------------------------------------------------------------------------ */

static void read_limits(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    off_t size = file < 0 ? 0 : lseek(file, 0, SEEK_END);
    if (size > 0 && (limits = (char *)calloc(1, (size_t)size + 1)) != NULL)
        if (pread(file, limits, (size_t)size, 0) != (ssize_t)size)
            limits[0] = 0;
    if (file >= 0)
        close(file);
}

__attribute__((constructor)) static void start(void)
{
    const char *path = getenv("REGIONPREDICT_LIMITS");
    const char *into = getenv("REGIONPREDICT_OUTPUT");
    /* A program that the wrapper built would write there, too, and start empty teams to ask for
       their size. What the program starts finds the name by the other variable. */
    if (into) {
        setenv("REGIONPREDICT_OUTLINED", into, 1);
        unsetenv("REGIONPREDICT_OUTPUT");
    }
    into = getenv("REGIONPREDICT_OUTLINED");
    owner = getpid();
    started = now();
    if (path)
        read_limits(path);
    join_others();
    if (into && strlen(into) < sizeof output)
        strcpy(output, into);
}

/* A path as JSON. */
static void quoted(char *to, size_t room, const char *from)
{
    size_t at = 0;
    for (; *from && at + 8 < room; from++) {
        if ((unsigned char)*from < 32)
            at += (size_t)sprintf(to + at, "\\u%04x", (unsigned char)*from);
        else {
            if (*from == '"' || *from == '\\')
                to[at++] = '\\';
            to[at++] = *from;
        }
    }
    to[at] = 0;
}

__attribute__((destructor)) static void stop(void)
{
    static char line[16384], name[9000], program[4096];
    int file, i, length, used = 0;
    if (!output[0] || owner != getpid())
        return;
    for (i = 0; i < SLOTS; i++)
        used += entries[i].executions > 0;
    file = used ? open(output, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (file < 0)
        return;
    length = (int)readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    quoted(name, sizeof name, program);
    length = snprintf(line, sizeof line,
                      "{\"kind\":\"run\",\"pid\":%d,\"program\":\"%s\",\"compiler\":\"\","
                      "\"runtime\":\"%s\",\"wall_ns\":%lld}\n",
                      (int)owner, name,
                      dlsym(RTLD_DEFAULT, "__kmpc_global_thread_num") ? "libomp" : "libgomp",
                      now() - started);
    if (write(file, line, (size_t)length) != length)
        i = SLOTS;
    for (i = 0; i < SLOTS; i++) {
        const struct entry *e = &entries[i];
        if (!e->executions)
            continue;
        quoted(name, sizeof name, e->module);
        length = snprintf(
            line, sizeof line,
            "{\"kind\":\"outlined\",\"pid\":%d,\"module\":\"%s\",\"offset\":%lu,\"limit\":%d,"
            "\"asked\":%d,\"executions\":%lld,\"total_ns\":%lld,\"least_ns\":%lld,\"most_ns\":%lld,"
            "\"first_ns\":%lld,\"counted\":%lld,\"trips\":%lld,\"least_trips\":%lld,"
            "\"most_trips\":%lld,\"least_team\":%d,\"most_team\":%d}\n",
            (int)owner, name, e->offset, e->limit, e->most_asked, e->executions, e->total, e->least,
            e->most, e->first, e->counted, e->trips, e->least_trips, e->most_trips, e->least_team,
            e->most_team);
        if (write(file, line, (size_t)length) != length)
            break;
    }
    close(file);
}
