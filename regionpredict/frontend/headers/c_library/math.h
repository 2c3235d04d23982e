/* The least of <math.h>. */
#ifndef REGIONPREDICT_MATH_H
#define REGIONPREDICT_MATH_H

#include <features.h>

#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define HUGE_VAL (__builtin_huge_val())
#define HUGE_VALF (__builtin_huge_valf())
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
#define FP_ILOGB0 (-2147483647 - 1)
#define FP_ILOGBNAN (-2147483647 - 1)
#define MATH_ERRNO 1
#define MATH_ERREXCEPT 2
#define math_errhandling (MATH_ERRNO | MATH_ERREXCEPT)

#ifndef __cplusplus
#define isnan(x) __builtin_isnan(x)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) __builtin_signbit(x)
#define isnormal(x) __builtin_isnormal(x)
#define isinf(x) __builtin_isinf_sign(x)
#define fpclassify(x) __builtin_fpclassify(0, 1, 4, 3, 2, x)
#define isgreater(x, y) __builtin_isgreater(x, y)
#define isgreaterequal(x, y) __builtin_isgreaterequal(x, y)
#define isless(x, y) __builtin_isless(x, y)
#define islessequal(x, y) __builtin_islessequal(x, y)
#define islessgreater(x, y) __builtin_islessgreater(x, y)
#define isunordered(x, y) __builtin_isunordered(x, y)
#endif

typedef float float_t;
typedef double double_t;

#ifdef __cplusplus
extern "C" {
#endif
extern int signgam;
double acos(double x);
double asin(double x);
double atan(double x);
double acosh(double x);
double asinh(double x);
double atanh(double x);
double cos(double x);
double sin(double x);
double tan(double x);
double cosh(double x);
double sinh(double x);
double tanh(double x);
double exp(double x);
double exp2(double x);
double expm1(double x);
double exp10(double x);
double log(double x);
double log10(double x);
double log1p(double x);
double log2(double x);
double logb(double x);
double cbrt(double x);
double sqrt(double x);
double fabs(double x);
double ceil(double x);
double floor(double x);
double round(double x);
double trunc(double x);
double nearbyint(double x);
double rint(double x);
double erf(double x);
double erfc(double x);
double lgamma(double x);
double tgamma(double x);
double j0(double x);
double j1(double x);
double y0(double x);
double y1(double x);
double gamma(double x);
double significand(double x);
double atan2(double x, double y);
double pow(double x, double y);
double hypot(double x, double y);
double fmod(double x, double y);
double remainder(double x, double y);
double drem(double x, double y);
double copysign(double x, double y);
double nextafter(double x, double y);
double fdim(double x, double y);
double fmax(double x, double y);
double fmin(double x, double y);
double fma(double x, double y, double z);
double frexp(double x, int *exponent);
double ldexp(double x, int exponent);
double modf(double x, double *whole);
double scalbn(double x, int exponent);
double scalbln(double x, long exponent);
double remquo(double x, double y, int *quotient);
double nan(const char *tag);
int ilogb(double x);
long lround(double x);
long long llround(double x);
long lrint(double x);
long long llrint(double x);
void sincos(double x, double *sine, double *cosine);
double jn(int order, double x);
double yn(int order, double x);
double lgamma_r(double x, int *sign);
int finite(double x);
float acosf(float x);
float asinf(float x);
float atanf(float x);
float acoshf(float x);
float asinhf(float x);
float atanhf(float x);
float cosf(float x);
float sinf(float x);
float tanf(float x);
float coshf(float x);
float sinhf(float x);
float tanhf(float x);
float expf(float x);
float exp2f(float x);
float expm1f(float x);
float exp10f(float x);
float logf(float x);
float log10f(float x);
float log1pf(float x);
float log2f(float x);
float logbf(float x);
float cbrtf(float x);
float sqrtf(float x);
float fabsf(float x);
float ceilf(float x);
float floorf(float x);
float roundf(float x);
float truncf(float x);
float nearbyintf(float x);
float rintf(float x);
float erff(float x);
float erfcf(float x);
float lgammaf(float x);
float tgammaf(float x);
float j0f(float x);
float j1f(float x);
float y0f(float x);
float y1f(float x);
float gammaf(float x);
float significandf(float x);
float atan2f(float x, float y);
float powf(float x, float y);
float hypotf(float x, float y);
float fmodf(float x, float y);
float remainderf(float x, float y);
float dremf(float x, float y);
float copysignf(float x, float y);
float nextafterf(float x, float y);
float fdimf(float x, float y);
float fmaxf(float x, float y);
float fminf(float x, float y);
float fmaf(float x, float y, float z);
float frexpf(float x, int *exponent);
float ldexpf(float x, int exponent);
float modff(float x, float *whole);
float scalbnf(float x, int exponent);
float scalblnf(float x, long exponent);
float remquof(float x, float y, int *quotient);
float nanf(const char *tag);
int ilogbf(float x);
long lroundf(float x);
long long llroundf(float x);
long lrintf(float x);
long long llrintf(float x);
void sincosf(float x, float *sine, float *cosine);
float jnf(int order, float x);
float ynf(int order, float x);
float lgammaf_r(float x, int *sign);
int finitef(float x);
long double acosl(long double x);
long double asinl(long double x);
long double atanl(long double x);
long double acoshl(long double x);
long double asinhl(long double x);
long double atanhl(long double x);
long double cosl(long double x);
long double sinl(long double x);
long double tanl(long double x);
long double coshl(long double x);
long double sinhl(long double x);
long double tanhl(long double x);
long double expl(long double x);
long double exp2l(long double x);
long double expm1l(long double x);
long double exp10l(long double x);
long double logl(long double x);
long double log10l(long double x);
long double log1pl(long double x);
long double log2l(long double x);
long double logbl(long double x);
long double cbrtl(long double x);
long double sqrtl(long double x);
long double fabsl(long double x);
long double ceill(long double x);
long double floorl(long double x);
long double roundl(long double x);
long double truncl(long double x);
long double nearbyintl(long double x);
long double rintl(long double x);
long double erfl(long double x);
long double erfcl(long double x);
long double lgammal(long double x);
long double tgammal(long double x);
long double j0l(long double x);
long double j1l(long double x);
long double y0l(long double x);
long double y1l(long double x);
long double gammal(long double x);
long double significandl(long double x);
long double atan2l(long double x, long double y);
long double powl(long double x, long double y);
long double hypotl(long double x, long double y);
long double fmodl(long double x, long double y);
long double remainderl(long double x, long double y);
long double dreml(long double x, long double y);
long double copysignl(long double x, long double y);
long double nextafterl(long double x, long double y);
long double fdiml(long double x, long double y);
long double fmaxl(long double x, long double y);
long double fminl(long double x, long double y);
long double fmal(long double x, long double y, long double z);
long double frexpl(long double x, int *exponent);
long double ldexpl(long double x, int exponent);
long double modfl(long double x, long double *whole);
long double scalbnl(long double x, int exponent);
long double scalblnl(long double x, long exponent);
long double remquol(long double x, long double y, int *quotient);
long double nanl(const char *tag);
int ilogbl(long double x);
long lroundl(long double x);
long long llroundl(long double x);
long lrintl(long double x);
long long llrintl(long double x);
void sincosl(long double x, long double *sine, long double *cosine);
long double jnl(int order, long double x);
long double ynl(int order, long double x);
long double lgammal_r(long double x, int *sign);
int finitel(long double x);
double nexttoward(double x, long double y);
#ifdef __cplusplus
}
#endif

#endif
