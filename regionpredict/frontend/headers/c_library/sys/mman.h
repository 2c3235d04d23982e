/* The least of <sys/mman.h>: Linux's numbers. */
#ifndef REGIONPREDICT_SYS_MMAN_H
#define REGIONPREDICT_SYS_MMAN_H

#include <sys/types.h>

#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_ANONYMOUS 0x20
#define MAP_FAILED ((void *)-1)

#ifdef __cplusplus
extern "C" {
#endif
void *mmap(void *wanted, size_t bytes, int protection, int flags, int descriptor, off_t offset);
int munmap(void *memory, size_t bytes);
int msync(void *memory, size_t bytes, int flags);
int madvise(void *memory, size_t bytes, int advice);
#ifdef __cplusplus
}
#endif

#endif
