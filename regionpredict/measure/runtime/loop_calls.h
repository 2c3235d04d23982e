/* Stands in front of the calls by which compiled loops get their chunks and tasks are made, where
   the recorder is loaded before the runtime: what tools are told is not all that a graph needs.

   On one thread LLVM's runtime gives a dynamic loop out as one chunk. It is asked instead for the
   schedule that does not merge chunks, so that they are those of the program. Static loops are
   announced on several threads alone, and with their first chunk. gcc's loops count in the program's
   variable, by its step; records have iterations from 0 on. Unsigned loops of gcc that count down
   would not run at all: gcc hands over a step below 0, and the runtime turns its sign. */

typedef struct {
    int32_t reserved, flags, more, last;
    const char *source;
} loop_place; /* ident_t of LLVM's runtime */

static loop_place unknown_place = {0, 2, 0, 0, ";unknown;unknown;0;0;;"};

extern int omp_get_num_threads(void) __attribute__((weak));
extern void omp_get_schedule(int *kind, int *chunk) __attribute__((weak));

/* As LLVM's kmp.h numbers schedules; omp.h numbers those of omp_get_schedule. */
enum {
    STATIC_CHUNKED = 33, STATIC = 34, DYNAMIC = 35, GUIDED = 36, RUNTIME = 37,
    STATIC_BALANCED_CHUNKED = 45, UNMERGED_DYNAMIC = 163, MODIFIERS = 3 << 29, OMP_DYNAMIC = 2
};

/* The next definition of a function: the runtime's own. */
#define NEXT(name, type)                                                                           \
    static __typeof__(type) next;                                                                  \
    if (!next)                                                                                     \
        next = (__typeof__(next))dlsym(RTLD_NEXT, name)
#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

static int alone(void)
{
    return whole_graph && omp_get_num_threads && omp_get_num_threads() == 1;
}

/* The schedule to ask for: on one thread, the one that leaves dynamic chunks apart. */
static int32_t unmerged(int32_t schedule, int64_t *chunk)
{
    int32_t plain = schedule & ~MODIFIERS;
    int kind = 0, size = 0;
    if (!alone())
        return schedule;
    if (plain == RUNTIME && omp_get_schedule) {
        omp_get_schedule(&kind, &size);
        if ((kind & 0xffff) != OMP_DYNAMIC)
            return schedule;
        *chunk = size;
        plain = DYNAMIC;
    }
    if (plain != DYNAMIC)
        return schedule;
    if (*chunk < 1)
        *chunk = 1;
    return UNMERGED_DYNAMIC;
}

static void announce(const void *caller, int64_t lower, int64_t step)
{
    calling.place = caller;
    calling.lower = lower;
    calling.step = step;
}

static void announced(void)
{
    announce(NULL, 0, 0);
}

/* -- programs built by clang -------------------------------------------------------------------- */

#define DISPATCH_INIT(name, value, difference)                                                     \
    void name(void *place, int32_t thread, int32_t schedule, value lower, value upper,             \
              difference step, difference chunk)                                                   \
    {                                                                                              \
        int64_t size = chunk;                                                                      \
        NEXT(#name, void (*)(void *, int32_t, int32_t, value, value, difference, difference));     \
        announce(CALLER, (int64_t)lower, step);                                                    \
        schedule = unmerged(schedule, &size);                                                      \
        next(place, thread, schedule, lower, upper, step, (difference)size);                       \
        announced();                                                                               \
    }

DISPATCH_INIT(__kmpc_dispatch_init_4, int32_t, int32_t)
DISPATCH_INIT(__kmpc_dispatch_init_4u, uint32_t, int32_t)
DISPATCH_INIT(__kmpc_dispatch_init_8, int64_t, int64_t)
DISPATCH_INIT(__kmpc_dispatch_init_8u, uint64_t, int64_t)

/* What one thread has of a static loop of `count` iterations: `size` from `first` on, and again
   behind each `stride`. */
static void static_share(int64_t count, int64_t first, int64_t size, int64_t stride)
{
    struct thread *self = thread();
    int64_t total = 0, at;
    if (!self || !loops.depth || first >= count || size < 1)
        return;
    if (stride < 1)
        stride = count;
    if (!loops.dispatched)
        put(self,
            head(DISPATCH, DISPATCH_CHUNK,
                 (uint32_t)(size < count - first ? size : count - first)),
            now(), loops.task, (uint64_t)first);
    for (at = first; at < count; at += stride)
        total += size < count - at ? size : count - at;
    if (first + stride < count)
        put(self, head(SHARE, 0, (uint32_t)(total < UINT32_MAX ? total : UINT32_MAX)), now(),
            loops.task, (uint64_t)stride);
}

#define STATIC_INIT(name, value, difference)                                                       \
    void name(void *place, int32_t thread, int32_t schedule, int32_t *last, value *lower,          \
              value *upper, difference *stride, difference step, difference chunk)                 \
    {                                                                                              \
        int32_t plain = schedule & ~MODIFIERS;                                                     \
        int64_t begin = (int64_t)*lower, end = (int64_t)*upper;                                    \
        NEXT(#name, void (*)(void *, int32_t, int32_t, int32_t *, value *, value *, difference *,  \
                             difference, difference));                                             \
        announce(CALLER, begin, step);                                                             \
        loops.dispatched = 0;                                                                      \
        next(place, thread, schedule, last, lower, upper, stride, step, chunk);                    \
        announced();                                                                               \
        if (whole_graph && step                                                                    \
            && (plain == STATIC || plain == STATIC_CHUNKED || plain == STATIC_BALANCED_CHUNKED))   \
            static_share((end - begin) / step + 1, ((int64_t)*lower - begin) / step,               \
                         ((int64_t)*upper - (int64_t)*lower) / step + 1,                           \
                         plain == STATIC ? 0 : *stride / step);                                    \
    }

STATIC_INIT(__kmpc_for_static_init_4, int32_t, int32_t)
STATIC_INIT(__kmpc_for_static_init_4u, uint32_t, int32_t)
STATIC_INIT(__kmpc_for_static_init_8, int64_t, int64_t)
STATIC_INIT(__kmpc_for_static_init_8u, uint64_t, int64_t)

/* -- programs built by gcc, on LLVM's runtime --------------------------------------------------- */

static int32_t own_number(void)
{
    NEXT("__kmpc_global_thread_num", int32_t (*)(void *));
    return next(&unknown_place);
}

static void begin_signed(int32_t schedule, int64_t start, int64_t end, int64_t step, int64_t chunk)
{
    NEXT("__kmpc_dispatch_init_8",
         void (*)(void *, int32_t, int32_t, int64_t, int64_t, int64_t, int64_t));
    next(&unknown_place, own_number(), schedule, start, step > 0 ? end - 1 : end + 1, step, chunk);
}

static int first_signed(long *from, long *to)
{
    NEXT("__kmpc_dispatch_next_8",
         int (*)(void *, int32_t, int32_t *, int64_t *, int64_t *, int64_t *));
    int64_t lower = 0, upper = 0, step = 1;
    int32_t last;
    int more = next(&unknown_place, own_number(), &last, &lower, &upper, &step);
    *from = lower;
    *to = upper + (step > 0 ? 1 : -1);
    return more;
}

static int begin_unsigned(int32_t schedule, uint64_t start, uint64_t end, int64_t step,
                          int64_t chunk, unsigned long long *from, unsigned long long *to)
{
    static void (*init)(void *, int32_t, int32_t, uint64_t, uint64_t, int64_t, int64_t);
    NEXT("__kmpc_dispatch_next_8u",
         int (*)(void *, int32_t, int32_t *, uint64_t *, uint64_t *, int64_t *));
    uint64_t lower = 0, upper = 0;
    int32_t last, number = own_number();
    int more;
    if (!init)
        init = (__typeof__(init))dlsym(RTLD_NEXT, "__kmpc_dispatch_init_8u");
    init(&unknown_place, number, schedule, start, step > 0 ? end - 1 : end + 1, step, chunk);
    more = next(&unknown_place, number, &last, &lower, &upper, &step);
    *from = lower;
    *to = upper + (step > 0 ? 1 : -1);
    return more;
}

#define PLAIN(...) __VA_ARGS__
/* `given` and `handed`: the chunk among the parameters, or nothing where the schedule has none. */
#define LOOP_START(name, schedule, given, handed, size)                                            \
    _Bool GOMP_loop_##name##_start(long start, long end, long step PLAIN given, long *from,        \
                                   long *to)                                                       \
    {                                                                                              \
        int64_t chunk = size;                                                                      \
        int32_t asked = unmerged(schedule, &chunk);                                                \
        _Bool more;                                                                                \
        NEXT("GOMP_loop_" #name "_start",                                                          \
             _Bool(*)(long, long, long PLAIN given, long *, long *));                              \
        announce(CALLER, start, step);                                                             \
        if (asked == UNMERGED_DYNAMIC) {                                                           \
            begin_signed(asked, start, end, step, chunk);                                          \
            more = first_signed(from, to);                                                         \
        } else                                                                                     \
            more = next(start, end, step PLAIN handed, from, to);                                  \
        announced();                                                                               \
        return more;                                                                               \
    }                                                                                              \
    _Bool GOMP_loop_ull_##name##_start(_Bool up, unsigned long long start,                         \
                                       unsigned long long end, unsigned long long step             \
                                           PLAIN given, unsigned long long *from,                  \
                                       unsigned long long *to)                                     \
    {                                                                                              \
        int64_t chunk = size, by = (int64_t)step;                                                  \
        int32_t asked = unmerged(schedule, &chunk);                                                \
        _Bool more;                                                                                \
        NEXT("GOMP_loop_ull_" #name "_start",                                                      \
             _Bool(*)(_Bool, unsigned long long, unsigned long long,                               \
                      unsigned long long PLAIN given, unsigned long long *,                        \
                      unsigned long long *));                                                      \
        by = up == (by > 0) ? by : -by;                                                            \
        announce(CALLER, (int64_t)start, by);                                                      \
        if (asked == UNMERGED_DYNAMIC || !up)                                                      \
            more = begin_unsigned(asked, start, end, by, chunk, from, to);                         \
        else                                                                                       \
            more = next(up, start, end, step PLAIN handed, from, to);                              \
        announced();                                                                               \
        return more;                                                                               \
    }

LOOP_START(dynamic, DYNAMIC, (, long given), (, given), given)
LOOP_START(nonmonotonic_dynamic, DYNAMIC, (, long given), (, given), given)
LOOP_START(guided, GUIDED, (, long given), (, given), given)
LOOP_START(nonmonotonic_guided, GUIDED, (, long given), (, given), given)
LOOP_START(runtime, RUNTIME, (), (), 1)
LOOP_START(nonmonotonic_runtime, RUNTIME, (), (), 1)
LOOP_START(maybe_nonmonotonic_runtime, RUNTIME, (), (), 1)

struct combined {
    void (*body)(void *);
    void *data;
    const void *caller;
    int64_t start, end, step, chunk;
    int32_t schedule;
};

static void combined_loop(void *argument)
{
    const struct combined *loop = argument;
    int64_t chunk = loop->chunk;
    int32_t schedule = unmerged(loop->schedule, &chunk);
    announce(loop->caller, loop->start, loop->step);
    begin_signed(schedule, loop->start, loop->end, loop->step, chunk);
    announced();
    loop->body(loop->data);
}

/* A loop and its team in one call: by a call for the team, in which each thread begins the loop. */
static void combined(const struct combined *loop, unsigned threads, unsigned flags)
{
    NEXT("GOMP_parallel", void (*)(void (*)(void *), void *, unsigned, unsigned));
    calling.fork = (const char *)loop->body + 1;
    next(combined_loop, (void *)loop, threads, flags);
}

/* gcc gives calls the line of the statement around the directive, and the function of a region that
   of the directive itself. */
void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags)
{
    NEXT("GOMP_parallel", void (*)(void (*)(void *), void *, unsigned, unsigned));
    calling.fork = (const char *)body + 1;
    next(body, data, threads, flags);
}

#define PARALLEL_LOOP(name, schedule, given, size)                                                 \
    void GOMP_parallel_loop_##name(void (*body)(void *), void *data, unsigned threads, long start, \
                                   long end, long step PLAIN given, unsigned flags)                \
    {                                                                                              \
        struct combined loop = {body, data, CALLER, start, end, step, size, schedule};             \
        combined(&loop, threads, flags);                                                           \
    }

PARALLEL_LOOP(dynamic, DYNAMIC, (, long given), given)
PARALLEL_LOOP(nonmonotonic_dynamic, DYNAMIC, (, long given), given)
PARALLEL_LOOP(guided, GUIDED, (, long given), given)
PARALLEL_LOOP(nonmonotonic_guided, GUIDED, (, long given), given)
PARALLEL_LOOP(runtime, RUNTIME, (), 1)
PARALLEL_LOOP(nonmonotonic_runtime, RUNTIME, (), 1)
PARALLEL_LOOP(maybe_nonmonotonic_runtime, RUNTIME, (), 1)

/* -- tasks, whose bodies tell constructs apart that the compiler put on one line ------------------ */

/* What a call makes is made at `caller` and runs `function`; a task that runs at once may make
   others meanwhile. Places are those behind calls: so is a function's, which has none before it.
   The runtime passes gcc's calls on to clang's, which then are not the program's. */
#define MAKING(function, gcc, call)                                                                \
    const void *outer_task = calling.task, *outer_body = calling.body;                             \
    int outer_gcc = calling.by_gcc;                                                                \
    if (gcc || !calling.by_gcc) {                                                                  \
        calling.task = CALLER;                                                                     \
        calling.body = (const char *)(function) + 1;                                               \
        calling.by_gcc = gcc;                                                                      \
    }                                                                                              \
    call;                                                                                          \
    calling.task = outer_task;                                                                     \
    calling.body = outer_body;                                                                     \
    calling.by_gcc = outer_gcc

struct made_task { /* the begin of kmp_task_t of LLVM's runtime */
    void *shared, *routine;
};

int32_t __kmpc_omp_task(void *place, int32_t thread, struct made_task *task)
{
    NEXT("__kmpc_omp_task", int32_t (*)(void *, int32_t, struct made_task *));
    int32_t result;
    MAKING(task->routine, 0, result = next(place, thread, task));
    return result;
}

int32_t __kmpc_omp_task_with_deps(void *place, int32_t thread, struct made_task *task,
                                  int32_t count, void *list, int32_t more, void *others)
{
    NEXT("__kmpc_omp_task_with_deps",
         int32_t (*)(void *, int32_t, struct made_task *, int32_t, void *, int32_t, void *));
    int32_t result;
    MAKING(task->routine, 0, result = next(place, thread, task, count, list, more, others));
    return result;
}

void __kmpc_omp_task_begin_if0(void *place, int32_t thread, struct made_task *task)
{
    NEXT("__kmpc_omp_task_begin_if0", void (*)(void *, int32_t, struct made_task *));
    MAKING(task->routine, 0, next(place, thread, task));
}

#define ITERATIONS_OF_TASKS                                                                        \
    void *place, int32_t thread, struct made_task *task, int32_t now_or_later, uint64_t *lower,    \
        uint64_t *upper, int64_t step, int32_t no_group, int32_t schedule, uint64_t size

void __kmpc_taskloop(ITERATIONS_OF_TASKS, void *copy)
{
    NEXT("__kmpc_taskloop", void (*)(ITERATIONS_OF_TASKS, void *));
    MAKING(task->routine, 0, next(place, thread, task, now_or_later, lower, upper, step, no_group,
                               schedule, size, copy));
}

void __kmpc_taskloop_5(ITERATIONS_OF_TASKS, int32_t modifier, void *copy)
{
    NEXT("__kmpc_taskloop_5", void (*)(ITERATIONS_OF_TASKS, int32_t, void *));
    MAKING(task->routine, 0, next(place, thread, task, now_or_later, lower, upper, step, no_group,
                               schedule, size, modifier, copy));
}

#define TASK_OF_GCC                                                                                \
    void (*body)(void *), void *data, void (*copy)(void *, void *), long size, long alignment

void GOMP_task(TASK_OF_GCC, _Bool deferred, unsigned flags, void **depend, int priority,
               void *detach)
{
    NEXT("GOMP_task", void (*)(TASK_OF_GCC, _Bool, unsigned, void **, int, void *));
    MAKING(body, 1, next(body, data, copy, size, alignment, deferred, flags, depend, priority, detach));
}

#define TASKLOOP_OF_GCC(name, value)                                                               \
    void name(TASK_OF_GCC, unsigned flags, unsigned long tasks, int priority, value start,         \
              value end, value step)                                                               \
    {                                                                                              \
        NEXT(#name, void (*)(TASK_OF_GCC, unsigned, unsigned long, int, value, value, value));     \
        MAKING(body, 1, next(body, data, copy, size, alignment, flags, tasks, priority, start, end,   \
                          step));                                                                  \
    }

TASKLOOP_OF_GCC(GOMP_taskloop, long)
TASKLOOP_OF_GCC(GOMP_taskloop_ull, unsigned long long)
