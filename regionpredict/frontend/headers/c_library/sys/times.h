/* The least of <sys/times.h>. */
#ifndef REGIONPREDICT_SYS_TIMES_H
#define REGIONPREDICT_SYS_TIMES_H

#include <sys/types.h>

struct tms {
    clock_t tms_utime;
    clock_t tms_stime;
    clock_t tms_cutime;
    clock_t tms_cstime;
};

#ifdef __cplusplus
extern "C" {
#endif
clock_t times(struct tms *to);
#ifdef __cplusplus
}
#endif

#endif
