/* The least of <fenv.h>: x86-64 numbers. */
#ifndef REGIONPREDICT_FENV_H
#define REGIONPREDICT_FENV_H

#define FE_INVALID 1
#define FE_DIVBYZERO 4
#define FE_OVERFLOW 8
#define FE_UNDERFLOW 16
#define FE_INEXACT 32
#define FE_ALL_EXCEPT 61
#define FE_TONEAREST 0
#define FE_DOWNWARD 0x400
#define FE_UPWARD 0x800
#define FE_TOWARDZERO 0xc00

#ifdef __cplusplus
extern "C" {
#endif
int feclearexcept(int which);
int fetestexcept(int which);
int feraiseexcept(int which);
int fegetround(void);
int fesetround(int mode);
int feenableexcept(int which);
int fedisableexcept(int which);
#ifdef __cplusplus
}
#endif

#endif
