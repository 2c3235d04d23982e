/* The part of the OpenMP tools interface that the recorder uses, from chapter 19 and appendix A of
   the OpenMP API specification 5.2: no header of a compiler is needed. */
#ifndef REGIONPREDICT_OMPT_ABI_H
#define REGIONPREDICT_OMPT_ABI_H

#include <stdint.h>

typedef union {
    uint64_t value;
    void *ptr;
} tool_data;

typedef struct {
    tool_data variable;
    int type;
} task_dependence;

typedef struct {
    uint64_t start, iterations;
} loop_chunk;

enum { SCOPE_BEGIN = 1, SCOPE_END = 2, SCOPE_BOTH = 3 };
enum { TASK_INITIAL = 1, TASK_IMPLICIT = 2 };
enum { DISPATCH_CHUNK = 3 };
enum { TASKGROUP = 6 };
enum {
    ON_PARALLEL_BEGIN = 3,
    ON_PARALLEL_END = 4,
    ON_TASK_CREATE = 5,
    ON_TASK_SCHEDULE = 6,
    ON_IMPLICIT_TASK = 7,
    ON_SYNC_WAIT = 16,
    ON_MUTEX_RELEASED = 17,
    ON_DEPENDENCES = 18,
    ON_WORK = 20,
    ON_SYNC_REGION = 23,
    ON_MUTEX_ACQUIRE = 26,
    ON_MUTEX_ACQUIRED = 27,
    ON_DISPATCH = 32
};

typedef void (*tool_function)(void);
typedef tool_function (*find_function)(const char *name);
typedef int (*set_callback)(int event, tool_function callback);

struct tool_result {
    int (*initialize)(find_function find, int device, tool_data *data);
    void (*finalize)(tool_data *data);
    tool_data data;
};

#endif
