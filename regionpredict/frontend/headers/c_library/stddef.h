/* The least of <stddef.h> that reading a program needs: LP64 types. */
#ifndef REGIONPREDICT_STDDEF_H
#define REGIONPREDICT_STDDEF_H

typedef unsigned long size_t;
typedef long ptrdiff_t;
#ifndef __cplusplus
typedef int wchar_t;
#endif
typedef struct {
    long long align_integer;
    long double align_floating;
} max_align_t;

#undef NULL
#ifdef __cplusplus
#define NULL 0
#else
#define NULL ((void *)0)
#endif
#define offsetof(type, member) __builtin_offsetof(type, member)

#endif
