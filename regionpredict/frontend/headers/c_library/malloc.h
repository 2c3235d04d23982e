/* The least of <malloc.h>. */
#ifndef REGIONPREDICT_MALLOC_H
#define REGIONPREDICT_MALLOC_H

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif
void *memalign(size_t alignment, size_t bytes);
void *valloc(size_t bytes);
size_t malloc_usable_size(void *memory);
int malloc_trim(size_t bytes);
int mallopt(int parameter, int value);
#ifdef __cplusplus
}
#endif

#endif
