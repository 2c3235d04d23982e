/* Records what an OpenMP program does with its tasks, loops and barriers, as a tool of the runtime.

   REGIONPREDICT_OMPT names a folder. Each thread writes a file of its own there, through a window
   of fixed size that is mapped from it: what is in the window is in the file, however the program
   ends. A record is four words: type (8 bits), aux (24) and site (32); time in ns of the monotonic
   clock; and two more by type, see the enumeration. A record counts when its first word is set,
   which is written last. A site is a line of the file `sites-PID`: a place of the program's code.
   With REGIONPREDICT_OMPT_LEVEL=regions only parallel regions are recorded, which costs nothing
   that a measured time would show. With =trace it is teams, loops, barriers and locks, of
   tasks only that there are any, and, where
   this library is loaded before the program's own, functions that are compiled with
   -finstrument-functions and regions that the program names; a name is a line of `names-PID`.
   A function that is a task's body is a line of `bodies-PID`.
   With REGIONPREDICT_OMPT_CLOCK=thread times are the thread's own processor time, which those of
   other threads do not compare with.
   REGIONPREDICT_OMPT_COUNTERS names up to three counters of the kernel as TYPE:CONFIG, with commas
   between; each thread has a group of its own, and behind each record that has a time it writes
   their values. The file `counters-PID` then has the word `read`, or the errno for which they
   cannot be had. */
#define _GNU_SOURCE
#include "ompt_abi.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define VERSION 1
#define WINDOW (1 << 20) /* bytes of a thread's file that are mapped at a time */
#define SITES 4096       /* places of the code that one thread tells apart; a power of two */
#define ID_BITS 40       /* of an id, below the number of the thread that gave it */
#define MOST_COUNTERS 3  /* what a record has room for */
#define UNSEEN 100000    /* ns between two looks at the time that a thread waits for a processor; a
                            look costs about 1000, and schedulers take a processor for longer */

enum {
    HEADER = 1,      /* aux: version; a: number of the thread; b: process */
    PARALLEL_BEGIN,  /* a: task, b: region, aux: threads asked for */
    PARALLEL_END,    /* a: task, b: region */
    IMPLICIT_BEGIN,  /* a: task, b: region, 0 for the initial task; aux: index, site: team */
    IMPLICIT_END,    /* a: task */
    CREATE,          /* a: task, b: new task, aux: flags, high ones from bit 8 on; site: 16 bits,
                        above them that of the function that is the task's body, 0: not known */
    SCHEDULE,        /* a: prior task, b: next one, aux: what becomes of the prior one */
    SYNC_BEGIN,      /* a: task, aux: kind */
    SYNC_END,        /* a: task, aux: kind */
    WORK_BEGIN,      /* a: task, b: iterations, aux: kind */
    WORK_END,        /* a: task, aux: kind */
    DISPATCH,        /* a: task, b: first iteration, site: iterations, aux: kind */
    DEPENDENCE,      /* a: task, b: address, aux: type */
    WAIT_BEGIN,      /* a: task, at the end of a taskgroup */
    WAIT_END,        /* a: task */
    FINISHED,        /* the runtime ended; a: number of the thread */
    COUNTERS,        /* of the record before; the three words behind are the values */
    MUTEX_ACQUIRE,   /* a: which lock, aux: kind */
    MUTEX_ACQUIRED,  /* a: which lock, aux: kind */
    MUTEX_RELEASED,  /* a: which lock, aux: kind */
    FUNCTION_ENTER,  /* site */
    FUNCTION_EXIT,
    STEP,            /* a: task, b: of the loop that it has begun, where that is not one */
    SHARE,           /* a: task, b: iterations from one of its chunks of a static loop to the next,
                        site: iterations of all; behind the first chunk */
    PREEMPTED        /* until the record before, since the last one of this type; a: the ns in which
                        the thread waited for a processor */
};

struct thread {
    uint64_t *next, *end, *window;
    uint64_t ids;
    off_t at;
    int file;
    int counters; /* the leader of the thread's group, -1 where it has none */
    int noticed; /* whether it has created a task that is not recorded */
    int schedule; /* its /proc/thread-self/schedstat, -1: not looked at */
    uint64_t looked, waited; /* when, and what it said then */
    const void *places[SITES];
    uint32_t sites[SITES];
};

static char folder[3500];
static int on;
static int asked_counters; /* how many, and each one's type and config */
static uint64_t counter_types[MOST_COUNTERS], counter_configs[MOST_COUNTERS];
static uint32_t threads, sites;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const void *known[SITES];
static __thread struct thread *mine;
static __thread int refused;
static int whole_graph; /* tasks and chunks are recorded, as graphs need them */

/* What a call that this library stands in front of says of the one that it makes: where the
   program has made it, and how the loop counts; step 0: there is none. */
static __thread struct {
    const void *place, *fork;
    int64_t lower, step;
    const void *task, *body; /* of a call that makes tasks, and the function that they run */
    int by_gcc;
} calling;

/* The loops that this thread is in, of those nested deeper than it tells apart the last one. */
#define DEEPEST 16
static __thread struct {
    int depth, dispatched; /* whether the last one's first chunk is recorded */
    uint64_t task;
    struct {
        int64_t lower, step;
    } counts[DEEPEST];
} loops;

static clockid_t the_clock = CLOCK_MONOTONIC;
static uint64_t largest_file;    /* bytes of a thread's file, 0: any */
static char hidden[SITES + 1];   /* by number of a place: functions that are not recorded */
static uint64_t *excluded;       /* their addresses in the program's file, in ascending order */
static size_t excluded_count;

static inline uint64_t now(void)
{
    struct timespec t;
    clock_gettime(the_clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* An empty file says that there was no room for events: a name still finds some. */
static void say(const char *what, uint64_t thread)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s-%d-%u", folder, what, (int)getpid(), (unsigned)thread);
    close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
}

/* Maps the next window; where the disk is full, or the file as large as it may be, this thread
   records nothing more. */
static int more(struct thread *self)
{
    void *window;
    if (self->window)
        munmap(self->window, WINDOW);
    self->window = self->next = self->end = NULL;
    if (self->file >= 0 && largest_file && (uint64_t)self->at + WINDOW > largest_file) {
        say("limit", self->ids >> ID_BITS);
        self->file = -1;
    }
    if (self->file < 0 || posix_fallocate(self->file, self->at, WINDOW)) {
        if (self->file >= 0)
            say("full", 0);
        self->file = -1;
        return 0;
    }
    window = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, self->file, self->at);
    if (window == MAP_FAILED) {
        self->file = -1;
        return 0;
    }
    self->at += WINDOW;
    self->window = self->next = window;
    self->end = self->next + WINDOW / sizeof(uint64_t);
    return 1;
}

static inline void put_words(struct thread *self, uint64_t head, uint64_t time, uint64_t a,
                             uint64_t b)
{
    uint64_t *record;
    if (self->next == self->end && !more(self))
        return;
    record = self->next;
    record[1] = time;
    record[2] = a;
    record[3] = b;
    __atomic_store_n(record, head, __ATOMIC_RELEASE);
    self->next = record + 4;
}

static void put_counters(struct thread *self)
{
    uint64_t values[1 + MOST_COUNTERS] = {0}; /* how many, then each */
    if (read(self->counters, values, sizeof values) > 0)
        put_words(self, COUNTERS, values[1], values[2], values[3]);
}

/* The ns in which this thread was ready and had no processor; those known last where it is unknown. */
static uint64_t waited(const struct thread *self)
{
    char text[64], *after;
    ssize_t size = pread(self->schedule, text, sizeof text - 1, 0);
    uint64_t value;
    text[size > 0 ? size : 0] = 0;
    strtoull(text, &after, 10); /* in which it ran */
    value = strtoull(after, &after, 10);
    return *after == ' ' ? value : self->waited;
}

static void put_preemption(struct thread *self, uint64_t time)
{
    uint64_t total = waited(self);
    if (total > self->waited)
        put_words(self, PREEMPTED, time, total - self->waited, 0);
    self->looked = time;
    self->waited = total;
}

static inline void put(struct thread *self, uint64_t head, uint64_t time, uint64_t a, uint64_t b)
{
    put_words(self, head, time, a, b);
    if (self->counters >= 0 && time)
        put_counters(self);
    if (self->schedule >= 0 && time > self->looked + UNSEEN)
        put_preemption(self, time);
}

static inline uint64_t head(int type, uint32_t aux, uint32_t site)
{
    return (uint64_t)type | (uint64_t)(aux & 0xffffff) << 8 | (uint64_t)site << 32;
}

/* What this thread does in user mode; kernels may refuse more to a user. */
static int open_counter(uint64_t type, uint64_t config, int leader)
{
    struct perf_event_attr wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.size = sizeof wanted;
    wanted.type = (uint32_t)type;
    wanted.config = config;
    wanted.read_format = PERF_FORMAT_GROUP;
    wanted.exclude_kernel = type != PERF_TYPE_SOFTWARE;
    wanted.exclude_hv = wanted.exclude_kernel;
    return (int)syscall(SYS_perf_event_open, &wanted, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

/* The leader of the thread's group; -1 where any counter cannot be had. The first thread says it. */
static int open_counters(uint32_t number)
{
    char path[4096];
    FILE *file;
    int i, opened[MOST_COUNTERS], leader = -1, error = 0;
    for (i = 0; i < asked_counters && !error; i++) {
        opened[i] = open_counter(counter_types[i], counter_configs[i], leader);
        error = opened[i] < 0 ? errno : 0;
        leader = i ? leader : opened[i];
    }
    for (i -= error ? 2 : 1; error && i >= 0; i--)
        close(opened[i]);
    if (!number && asked_counters) {
        snprintf(path, sizeof path, "%s/counters-%d", folder, (int)getpid());
        file = fopen(path, "we");
        if (file) {
            error ? fprintf(file, "%d\n", error) : fprintf(file, "read\n");
            fclose(file);
        }
    }
    return error ? -1 : leader;
}

/* TYPE:CONFIG,TYPE:CONFIG: what is wrong ends the list. */
static void ask_counters(const char *text)
{
    char *end;
    while (text && *text && asked_counters < MOST_COUNTERS) {
        counter_types[asked_counters] = strtoull(text, &end, 0);
        if (*end != ':')
            return;
        counter_configs[asked_counters++] = strtoull(end + 1, &end, 0);
        if (*end != ',')
            return;
        text = end + 1;
    }
}

static struct thread *open_thread(void)
{
    char path[4096];
    struct thread *self;
    uint32_t number;
    if (refused || !on || !(self = calloc(1, sizeof *self))) {
        refused = 1;
        return NULL;
    }
    number = __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);
    snprintf(path, sizeof path, "%s/events-%d-%u", folder, (int)getpid(), number);
    self->file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    self->ids = (uint64_t)number << ID_BITS;
    self->counters = self->schedule = -1;
    if (!more(self)) {
        refused = 1;
        free(self);
        return NULL;
    }
    put(self, head(HEADER, VERSION, 0), now(), number, (uint64_t)getpid());
    self->counters = open_counters(number);
    if (whole_graph && the_clock == CLOCK_MONOTONIC)
        self->schedule = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    self->looked = now();
    self->waited = self->schedule >= 0 ? waited(self) : 0;
    return mine = self;
}

static inline struct thread *thread(void)
{
    return mine ? mine : open_thread();
}

#include "trace_options.h"

/* The number of a place, which is written down in the `list` of its kind where it is new to the
   process; `name` is what the program calls it, NULL for a place of the code. */
static uint32_t new_site(const void *place, const char *list, const char *name)
{
    char path[4096];
    Dl_info info;
    FILE *file;
    uint32_t number;
    pthread_mutex_lock(&lock);
    for (number = 0; number < sites && known[number] != place; number++) {
    }
    if (number == sites && sites < SITES) {
        known[sites++] = place;
        snprintf(path, sizeof path, "%s/%s-%d", folder, list, (int)getpid());
        file = fopen(path, "ae");
        hidden[sites] = !name && is_excluded(place);
        if (file) {
            if (name)
                fprintf(file, "%u %.200s\n", number + 1, name);
            else if (dladdr(place, &info) && info.dli_fname)
                fprintf(file, "%u %lx %lx %s\n", number + 1,
                        (unsigned long)((const char *)place - (const char *)info.dli_fbase),
                        (unsigned long)place, info.dli_fname);
            fclose(file);
        }
    }
    number = number < sites ? number + 1 : 0;
    pthread_mutex_unlock(&lock);
    return number;
}

static inline uint32_t listed_site(struct thread *self, const void *place, const char *list,
                                   const char *name)
{
    size_t slot = ((uintptr_t)place * 0x9e3779b97f4a7c15u) >> 52 & (SITES - 1);
    if (!place)
        return 0;
    if (self->places[slot] != place) {
        self->sites[slot] = new_site(place, list, name);
        self->places[slot] = place;
    }
    return self->sites[slot];
}

static inline uint32_t site(struct thread *self, const void *place)
{
    return listed_site(self, place, "sites", NULL);
}

static inline uint64_t id(const tool_data *data)
{
    return data ? data->value : 0;
}

static void parallel_begin(tool_data *task, const void *frame, tool_data *region,
                           unsigned int asked, int flags, const void *place)
{
    struct thread *self = thread();
    if (!self)
        return;
    region->value = ++self->ids;
    place = calling.fork ? calling.fork : place;
    calling.fork = NULL; /* which is not where a nested region is */
    put(self, head(PARALLEL_BEGIN, asked, site(self, place)), now(), id(task), region->value);
}

static void parallel_end(tool_data *region, tool_data *task, int flags, const void *place)
{
    struct thread *self = thread();
    if (self)
        put(self, head(PARALLEL_END, 0, 0), now(), id(task), id(region));
}

static void implicit_task(int endpoint, tool_data *region, tool_data *task, unsigned int team,
                          unsigned int index, int flags)
{
    struct thread *self = thread();
    if (!self)
        return;
    if (endpoint == SCOPE_BEGIN) {
        task->value = ++self->ids;
        put(self, head(IMPLICIT_BEGIN, index, team), now(), task->value,
            flags & TASK_INITIAL ? 0 : id(region));
    } else {
        put(self, head(IMPLICIT_END, 0, 0), now(), id(task), 0);
    }
}

static void task_create(tool_data *task, const void *frame, tool_data *created, int flags,
                        int has_dependences, const void *place)
{
    struct thread *self = thread();
    uint32_t bits = ((uint32_t)flags & 0xff) | ((uint32_t)flags >> 27) << 8;
    if (!self)
        return;
    created->value = ++self->ids;
    if (flags & TASK_INITIAL)
        put(self, head(IMPLICIT_BEGIN, 0, 1), now(), created->value, 0);
    else {
        uint32_t where = site(self, calling.task ? calling.task : place);
        put(self, head(CREATE, bits, where | listed_site(self, calling.body, "bodies", NULL) << 16), now(), id(task),
            created->value);
    }
}

/* A trace has no tasks; who reads it learns that there were some: a record a thread, the first. */
static void task_noticed(tool_data *task, const void *frame, tool_data *created, int flags,
                         int has_dependences, const void *place)
{
    struct thread *self = thread();
    if (!self || self->noticed || flags & TASK_INITIAL)
        return;
    self->noticed = 1;
    put(self, head(CREATE, (uint32_t)flags & 0xff, 0), now(), 0, 0);
}

static void task_schedule(tool_data *prior, int status, tool_data *next)
{
    struct thread *self = thread();
    if (self)
        put(self, head(SCHEDULE, (uint32_t)status, 0), now(), id(prior), id(next));
}

static void sync_region(int kind, int endpoint, tool_data *region, tool_data *task,
                        const void *place)
{
    struct thread *self = thread();
    if (!self)
        return;
    if (endpoint != SCOPE_END)
        put(self, head(SYNC_BEGIN, (uint32_t)kind, site(self, place)), now(), id(task), 0);
    if (endpoint != SCOPE_BEGIN)
        put(self, head(SYNC_END, (uint32_t)kind, 0), now(), id(task), 0);
}

/* The region of a taskgroup is its body too; only this tells when its end waits. */
static void sync_wait(int kind, int endpoint, tool_data *region, tool_data *task,
                      const void *place)
{
    struct thread *self = kind == TASKGROUP ? thread() : NULL;
    if (self)
        put(self, head(endpoint == SCOPE_BEGIN ? WAIT_BEGIN : WAIT_END, (uint32_t)kind, 0), now(),
            id(task), 0);
}

static void work(int kind, int endpoint, tool_data *region, tool_data *task, uint64_t count,
                 const void *place)
{
    struct thread *self = thread();
    if (!self)
        return;
    if (endpoint != SCOPE_END) {
        int64_t step = calling.step ? calling.step : 1;
        place = calling.place ? calling.place : place;
        put(self, head(WORK_BEGIN, (uint32_t)kind, site(self, place)), now(), id(task), count);
        if (whole_graph && step != 1)
            put(self, head(STEP, 0, 0), now(), id(task), (uint64_t)step);
        if (loops.depth < DEEPEST)
            loops.depth++;
        loops.dispatched = 0;
        loops.task = id(task);
        loops.counts[loops.depth - 1].lower = calling.lower;
        loops.counts[loops.depth - 1].step = step;
    }
    if (endpoint != SCOPE_BEGIN) {
        put(self, head(WORK_END, (uint32_t)kind, 0), now(), id(task), 0);
        if (loops.depth)
            loops.depth--;
    }
}

static void dispatch(tool_data *region, tool_data *task, int kind, tool_data instance)
{
    struct thread *self = thread();
    const loop_chunk *chunk = instance.ptr;
    uint64_t first = 0, count = 1;
    if (!self)
        return;
    if (kind == DISPATCH_CHUNK && chunk) {
        int64_t lower = loops.depth ? loops.counts[loops.depth - 1].lower : 0;
        int64_t step = loops.depth ? loops.counts[loops.depth - 1].step : 1;
        int64_t least = (int64_t)chunk->start; /* of the values that the chunk has */
        count = chunk->iterations < UINT32_MAX ? chunk->iterations : UINT32_MAX;
        first = (uint64_t)(step > 0 ? (least - lower) / step
                                    : (lower - least) / -step - ((int64_t)count - 1));
    }
    loops.dispatched = 1;
    put(self, head(DISPATCH, (uint32_t)kind, (uint32_t)count), now(), id(task), first);
}

static void dependences(tool_data *task, const task_dependence *list, int count)
{
    struct thread *self = thread();
    int i;
    for (i = 0; self && i < count; i++)
        put(self, head(DEPENDENCE, (uint32_t)list[i].type, 0), 0, id(task),
            list[i].variable.value);
}

static void mutex_acquire(int kind, unsigned int hint, unsigned int how, uint64_t which,
                          const void *place)
{
    struct thread *self = thread();
    if (self)
        put(self, head(MUTEX_ACQUIRE, (uint32_t)kind, site(self, place)), now(), which, 0);
}

static void mutex_acquired(int kind, uint64_t which, const void *place)
{
    struct thread *self = thread();
    if (self)
        put(self, head(MUTEX_ACQUIRED, (uint32_t)kind, 0), now(), which, 0);
}

static void mutex_released(int kind, uint64_t which, const void *place)
{
    struct thread *self = thread();
    if (self)
        put(self, head(MUTEX_RELEASED, (uint32_t)kind, 0), now(), which, 0);
}

/* What the compiler calls at both ends of a function, and programs where they name a region. */
static int functions;

void __cyg_profile_func_enter(void *function, void *from)
{
    struct thread *self = functions ? thread() : NULL;
    uint32_t place = self ? site(self, function) : 0;
    if (self && !hidden[place])
        put(self, head(FUNCTION_ENTER, 0, place), now(), 0, 0);
}

void __cyg_profile_func_exit(void *function, void *from)
{
    struct thread *self = functions ? thread() : NULL;
    if (self && !(excluded_count && hidden[site(self, function)]))
        put(self, head(FUNCTION_EXIT, 0, 0), now(), 0, 0);
}

/* For programs that name their regions themselves; they declare them weak. */
void regionpredict_enter(const char *name)
{
    struct thread *self = functions ? thread() : NULL;
    if (self)
        put(self, head(FUNCTION_ENTER, 0, listed_site(self, name, "names", name)), now(), 0, 0);
}

void regionpredict_leave(void)
{
    __cyg_profile_func_exit(NULL, NULL);
}

/* A child process that runs on without exec shares the files: it records nothing. */
static void leave_child_alone(void)
{
    on = functions = 0;
    mine = NULL;
    refused = 1;
}

static int initialize(find_function find, int device, tool_data *data)
{
    set_callback set = (set_callback)find("ompt_set_callback");
    const char *level = getenv("REGIONPREDICT_OMPT_LEVEL");
    const char *clock = getenv("REGIONPREDICT_OMPT_CLOCK");
    if (!set)
        return 0;
    if (clock && !strcmp(clock, "thread"))
        the_clock = CLOCK_THREAD_CPUTIME_ID;
    if (!on)
        pthread_atfork(NULL, NULL, leave_child_alone);
    on = 1;
    if (!asked_counters)
        ask_counters(getenv("REGIONPREDICT_OMPT_COUNTERS"));
    set(ON_PARALLEL_BEGIN, (tool_function)parallel_begin);
    set(ON_PARALLEL_END, (tool_function)parallel_end);
    if (level && !strcmp(level, "regions"))
        return 1;
    set(ON_IMPLICIT_TASK, (tool_function)implicit_task);
    if (level && !strcmp(level, "trace")) {
        set(ON_TASK_CREATE, (tool_function)task_noticed);
        set(ON_SYNC_REGION, (tool_function)sync_region);
        set(ON_WORK, (tool_function)work);
        set(ON_MUTEX_ACQUIRE, (tool_function)mutex_acquire);
        set(ON_MUTEX_ACQUIRED, (tool_function)mutex_acquired);
        set(ON_MUTEX_RELEASED, (tool_function)mutex_released);
        return 1;
    }
    whole_graph = 1;
    set(ON_TASK_CREATE, (tool_function)task_create);
    set(ON_TASK_SCHEDULE, (tool_function)task_schedule);
    set(ON_SYNC_REGION, (tool_function)sync_region);
    set(ON_SYNC_WAIT, (tool_function)sync_wait);
    set(ON_WORK, (tool_function)work);
    set(ON_DISPATCH, (tool_function)dispatch);
    set(ON_DEPENDENCES, (tool_function)dependences);
    return 1;
}

static void finalize(tool_data *data)
{
    struct thread *self = thread();
    if (self)
        put(self, head(FINISHED, 0, 0), now(), self->ids >> ID_BITS, 0);
    on = functions; /* functions may end after the runtime */
}

static int find_folder(void)
{
    const char *given = getenv("REGIONPREDICT_OMPT");
    if (!given || strlen(given) >= sizeof folder)
        return 0;
    strcpy(folder, given);
    return 1;
}

/* Functions count from the program's begin on, also where it has no OpenMP. */
__attribute__((constructor)) static void begin(void)
{
    const char *level = getenv("REGIONPREDICT_OMPT_LEVEL");
    if (level && !strcmp(level, "trace") && find_folder()) {
        on = functions = 1;
        pthread_atfork(NULL, NULL, leave_child_alone);
        read_options();
    }
}

struct tool_result *ompt_start_tool(unsigned int version, const char *runtime)
{
    static struct tool_result result = {initialize, finalize, {0}};
    return find_folder() ? &result : NULL;
}

#include "loop_calls.h"
