/* The least of <sched.h>. */
#ifndef REGIONPREDICT_SCHED_H
#define REGIONPREDICT_SCHED_H

#include <sys/types.h>

typedef struct {
    unsigned long bits[16];
} cpu_set_t;

#ifdef __cplusplus
extern "C" {
#endif
int sched_yield(void);
int sched_getcpu(void);
int sched_setaffinity(pid_t process, size_t bytes, const cpu_set_t *set);
int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *set);
#ifdef __cplusplus
}
#endif

#endif
