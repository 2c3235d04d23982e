/* The least of <setjmp.h>. */
#ifndef REGIONPREDICT_SETJMP_H
#define REGIONPREDICT_SETJMP_H

typedef struct {
    long registers[25];
} jmp_buf[1];
typedef jmp_buf sigjmp_buf;

#ifdef __cplusplus
extern "C" {
#endif
int setjmp(jmp_buf environment);
void longjmp(jmp_buf environment, int value);
int sigsetjmp(sigjmp_buf environment, int mask);
void siglongjmp(sigjmp_buf environment, int value);
#ifdef __cplusplus
}
#endif

#endif
