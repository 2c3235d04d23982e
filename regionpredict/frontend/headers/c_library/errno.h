/* The least of <errno.h>: Linux's numbers. */
#ifndef REGIONPREDICT_ERRNO_H
#define REGIONPREDICT_ERRNO_H

#include <features.h>

#ifdef __cplusplus
extern "C" {
#endif
extern int *__errno_location(void);
#ifdef __cplusplus
}
#endif
#define errno (*__errno_location())

#define EPERM 1
#define ENOENT 2
#define ESRCH 3
#define EINTR 4
#define EIO 5
#define ENXIO 6
#define E2BIG 7
#define EBADF 9
#define ECHILD 10
#define EAGAIN 11
#define EWOULDBLOCK 11
#define ENOMEM 12
#define EACCES 13
#define EFAULT 14
#define EBUSY 16
#define EEXIST 17
#define ENODEV 19
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define EFBIG 27
#define ENOSPC 28
#define ESPIPE 29
#define EROFS 30
#define EPIPE 32
#define EDOM 33
#define ERANGE 34
#define ENOSYS 38
#define EOVERFLOW 75
#define EILSEQ 84
#define ENOTSUP 95
#define ETIMEDOUT 110

#endif
