/* The least of <fcntl.h>: Linux's numbers. */
#ifndef REGIONPREDICT_FCNTL_H
#define REGIONPREDICT_FCNTL_H

#include <sys/types.h>

#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 0100
#define O_EXCL 0200
#define O_TRUNC 01000
#define O_APPEND 02000
#define O_NONBLOCK 04000
#define F_GETFL 3
#define F_SETFL 4

#ifdef __cplusplus
extern "C" {
#endif
int open(const char *path, int flags, ...);
int creat(const char *path, mode_t mode);
int fcntl(int descriptor, int command, ...);
#ifdef __cplusplus
}
#endif

#endif
