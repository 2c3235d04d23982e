/* The least of <sys/types.h>: LP64 Linux. */
#ifndef REGIONPREDICT_SYS_TYPES_H
#define REGIONPREDICT_SYS_TYPES_H

#include <features.h>
#include <stddef.h>
#include <stdint.h>

typedef unsigned char u_char;
typedef unsigned short u_short;
typedef unsigned int u_int;
typedef unsigned long u_long;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef uint8_t u_int8_t;
typedef uint16_t u_int16_t;
typedef uint32_t u_int32_t;
typedef uint64_t u_int64_t;
typedef long ssize_t;
typedef long off_t;
typedef long off64_t;
typedef long loff_t;
typedef long blksize_t;
typedef long blkcnt_t;
typedef unsigned long dev_t;
typedef unsigned long ino_t;
typedef unsigned long nlink_t;
typedef unsigned int mode_t;
typedef unsigned int uid_t;
typedef unsigned int gid_t;
typedef unsigned int id_t;
typedef int pid_t;
typedef int key_t;
typedef char *caddr_t;
typedef long clock_t;
typedef long time_t;
typedef int clockid_t;
typedef void *timer_t;
typedef long suseconds_t;
typedef unsigned int useconds_t;
typedef unsigned long pthread_t;

struct timespec {
    time_t tv_sec;
    long tv_nsec;
};
struct timeval {
    time_t tv_sec;
    suseconds_t tv_usec;
};

#endif
