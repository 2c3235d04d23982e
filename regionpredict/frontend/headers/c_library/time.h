/* The least of <time.h>. */
#ifndef REGIONPREDICT_TIME_H
#define REGIONPREDICT_TIME_H

#include <features.h>
#include <stddef.h>
#include <sys/types.h>

#define CLOCKS_PER_SEC ((clock_t)1000000)
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_THREAD_CPUTIME_ID 3
#define CLOCK_MONOTONIC_RAW 4
#define TIME_UTC 1

struct tm {
    int tm_sec;
    int tm_min;
    int tm_hour;
    int tm_mday;
    int tm_mon;
    int tm_year;
    int tm_wday;
    int tm_yday;
    int tm_isdst;
    long tm_gmtoff;
    const char *tm_zone;
};

#ifdef __cplusplus
extern "C" {
#endif
clock_t clock(void);
time_t time(time_t *to);
double difftime(time_t end, time_t start);
time_t mktime(struct tm *value);
time_t timegm(struct tm *value);
size_t strftime(char *to, size_t bytes, const char *format, const struct tm *value);
char *asctime(const struct tm *value);
char *ctime(const time_t *value);
char *ctime_r(const time_t *value, char *to);
struct tm *gmtime(const time_t *value);
struct tm *gmtime_r(const time_t *value, struct tm *to);
struct tm *localtime(const time_t *value);
struct tm *localtime_r(const time_t *value, struct tm *to);
int timespec_get(struct timespec *to, int base);
int clock_gettime(clockid_t clock, struct timespec *to);
int clock_getres(clockid_t clock, struct timespec *to);
int nanosleep(const struct timespec *wanted, struct timespec *left);
void tzset(void);
#ifdef __cplusplus
}
#endif

#endif
