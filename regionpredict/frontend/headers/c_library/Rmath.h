/* The least of <Rmath.h>. */
#ifndef REGIONPREDICT_RMATH_H
#define REGIONPREDICT_RMATH_H

#include <Rinternals.h>

#define M_LN_SQRT_2PI 0.918938533204672741780329736406
#define M_1_SQRT_2PI 0.398942280401432677939946059934
#define dnorm Rf_dnorm4
#define pnorm Rf_pnorm5
#define qnorm Rf_qnorm5
#define rnorm Rf_rnorm
#define runif Rf_runif
#define rexp Rf_rexp
#define rgamma Rf_rgamma
#define lgammafn Rf_lgammafn
#define gammafn Rf_gammafn
#define digamma Rf_digamma
#define trigamma Rf_trigamma
#define beta Rf_beta
#define choose Rf_choose
#define fmax2 Rf_fmax2
#define fmin2 Rf_fmin2
#define imax2 Rf_imax2
#define imin2 Rf_imin2
#define sign Rf_sign
double Rf_dnorm4(double x, double mean, double deviation, int logarithm);
double Rf_pnorm5(double x, double mean, double deviation, int lower, int logarithm);
double Rf_qnorm5(double p, double mean, double deviation, int lower, int logarithm);
double Rf_rnorm(double mean, double deviation);
double Rf_runif(double low, double high);
double Rf_rexp(double scale);
double Rf_rgamma(double shape, double scale);
double Rf_lgammafn(double x);
double Rf_gammafn(double x);
double Rf_digamma(double x);
double Rf_trigamma(double x);
double Rf_beta(double a, double b);
double Rf_choose(double n, double k);
double Rf_fmax2(double x, double y);
double Rf_fmin2(double x, double y);
int Rf_imax2(int x, int y);
int Rf_imin2(int x, int y);
double Rf_sign(double x);

#endif
