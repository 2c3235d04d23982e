/* The least of <sys/resource.h>. */
#ifndef REGIONPREDICT_SYS_RESOURCE_H
#define REGIONPREDICT_SYS_RESOURCE_H

#include <sys/types.h>

typedef unsigned long rlim_t;
struct rlimit {
    rlim_t rlim_cur;
    rlim_t rlim_max;
};
struct rusage {
    struct timeval ru_utime;
    struct timeval ru_stime;
    long ru_maxrss;
    long ru_ixrss;
    long ru_idrss;
    long ru_isrss;
    long ru_minflt;
    long ru_majflt;
    long ru_nswap;
    long ru_inblock;
    long ru_oublock;
    long ru_msgsnd;
    long ru_msgrcv;
    long ru_nsignals;
    long ru_nvcsw;
    long ru_nivcsw;
};

#define RUSAGE_SELF 0
#define RUSAGE_CHILDREN (-1)
#define RUSAGE_THREAD 1
#define RLIMIT_CPU 0
#define RLIMIT_DATA 2
#define RLIMIT_STACK 3
#define RLIMIT_AS 9
#define RLIM_INFINITY (~0UL)

#ifdef __cplusplus
extern "C" {
#endif
int getrusage(int who, struct rusage *to);
int getrlimit(int which, struct rlimit *to);
int setrlimit(int which, const struct rlimit *value);
#ifdef __cplusplus
}
#endif

#endif
