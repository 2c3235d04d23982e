/* The least of <sys/time.h>. */
#ifndef REGIONPREDICT_SYS_TIME_H
#define REGIONPREDICT_SYS_TIME_H

#include <sys/types.h>

struct timezone {
    int tz_minuteswest;
    int tz_dsttime;
};
struct itimerval {
    struct timeval it_interval;
    struct timeval it_value;
};

#define ITIMER_REAL 0
#define ITIMER_VIRTUAL 1
#define ITIMER_PROF 2

#ifdef __cplusplus
extern "C" {
#endif
int gettimeofday(struct timeval *to, void *zone);
int settimeofday(const struct timeval *value, const struct timezone *zone);
int getitimer(int which, struct itimerval *to);
int setitimer(int which, const struct itimerval *value, struct itimerval *before);
#ifdef __cplusplus
}
#endif

#endif
