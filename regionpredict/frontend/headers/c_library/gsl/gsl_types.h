/* The least of the GNU Scientific Library (its reference manual, version 2.7): enough to read a
   program, not to build one. */
#ifndef REGIONPREDICT_GSL_H
#define REGIONPREDICT_GSL_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GSL_SUCCESS = 0, GSL_FAILURE = -1, GSL_CONTINUE = -2, GSL_EDOM = 1, GSL_ERANGE = 2,
    GSL_EFAULT = 3, GSL_EINVAL = 4, GSL_EFAILED = 5, GSL_ENOMEM = 8, GSL_EMAXITER = 11,
    GSL_EBADTOL = 13, GSL_EUNDRFLW = 15, GSL_EOVRFLW = 16, GSL_EROUND = 18, GSL_ESING = 21,
    GSL_EDIVERGE = 22
};
enum {
    GSL_INTEG_GAUSS15 = 1, GSL_INTEG_GAUSS21, GSL_INTEG_GAUSS31, GSL_INTEG_GAUSS41,
    GSL_INTEG_GAUSS51, GSL_INTEG_GAUSS61
};
#define GSL_DBL_EPSILON 2.2204460492503131e-16
#define GSL_SQRT_DBL_EPSILON 1.4901161193847656e-08
#define GSL_NAN NAN
#define GSL_POSINF INFINITY
#define GSL_NEGINF (-INFINITY)
#define GSL_MAX(a, b) ((a) > (b) ? (a) : (b))
#define GSL_MIN(a, b) ((a) < (b) ? (a) : (b))
#define GSL_MAX_DBL(a, b) GSL_MAX(a, b)
#define GSL_MIN_DBL(a, b) GSL_MIN(a, b)
#define GSL_SIGN(x) ((x) >= 0.0 ? 1 : -1)
#define GSL_IS_ODD(n) ((n) & 1)
#define GSL_IS_EVEN(n) (!((n) & 1))
#define GSL_CONST_MKSA_SPEED_OF_LIGHT (2.99792458e8)
#define GSL_CONST_MKSA_GRAVITATIONAL_CONSTANT (6.673e-11)
#define GSL_CONST_MKSA_PLANCKS_CONSTANT_H (6.62606896e-34)
#define GSL_CONST_MKSA_BOLTZMANN (1.3806504e-23)
#define GSL_CONST_MKSA_STEFAN_BOLTZMANN_CONSTANT (5.67040047374e-8)
#define GSL_CONST_MKSA_SOLAR_MASS (1.98892e30)
#define GSL_CONST_MKSA_PARSEC (3.08567758135e16)
#define GSL_CONST_MKSA_ELECTRON_VOLT (1.602176487e-19)

struct gsl_function_struct { double (*function)(double x, void *params); void *params; };
typedef struct gsl_function_struct gsl_function;
#define GSL_FN_EVAL(F, x) (*((F)->function))(x, (F)->params)
typedef struct { double val; double err; } gsl_sf_result;
typedef struct { double dat[2]; } gsl_complex;
#define GSL_REAL(z) ((z).dat[0])
#define GSL_IMAG(z) ((z).dat[1])
typedef void gsl_error_handler_t(const char *reason, const char *file, int line, int code);
gsl_error_handler_t *gsl_set_error_handler(gsl_error_handler_t *handler);
gsl_error_handler_t *gsl_set_error_handler_off(void);
void gsl_error(const char *reason, const char *file, int line, int code);
const char *gsl_strerror(int code);
#define GSL_ERROR(reason, code) do { gsl_error(reason, __FILE__, __LINE__, code); return code; } while (0)
#define GSL_ERROR_VAL(reason, code, v) do { gsl_error(reason, __FILE__, __LINE__, code); return v; } while (0)

double gsl_log1p(double x);
double gsl_expm1(double x);
double gsl_hypot(double x, double y);
double gsl_pow_int(double x, int n);
double gsl_pow_2(double x);
double gsl_pow_3(double x);
double gsl_pow_4(double x);
double gsl_pow_5(double x);
double gsl_pow_6(double x);
double gsl_pow_7(double x);
double gsl_pow_8(double x);
double gsl_pow_9(double x);
int gsl_isnan(double x);
int gsl_isinf(double x);
int gsl_finite(double x);
int gsl_fcmp(double x, double y, double tolerance);

typedef struct gsl_block_s { size_t size; double *data; } gsl_block;
typedef struct { size_t size; size_t stride; double *data; gsl_block *block; int owner; } gsl_vector;
typedef struct { size_t size1; size_t size2; size_t tda; double *data; gsl_block *block; int owner; } gsl_matrix;
typedef struct { size_t size; size_t *data; } gsl_permutation;
typedef struct { gsl_vector vector; } gsl_vector_view;
typedef struct { gsl_matrix matrix; } gsl_matrix_view;
gsl_vector *gsl_vector_alloc(size_t n);
gsl_vector *gsl_vector_calloc(size_t n);
void gsl_vector_free(gsl_vector *v);
double gsl_vector_get(const gsl_vector *v, size_t i);
void gsl_vector_set(gsl_vector *v, size_t i, double x);
double *gsl_vector_ptr(gsl_vector *v, size_t i);
void gsl_vector_set_all(gsl_vector *v, double x);
void gsl_vector_set_zero(gsl_vector *v);
int gsl_vector_memcpy(gsl_vector *to, const gsl_vector *from);
gsl_vector_view gsl_vector_view_array(double *base, size_t n);
gsl_matrix *gsl_matrix_alloc(size_t rows, size_t columns);
gsl_matrix *gsl_matrix_calloc(size_t rows, size_t columns);
void gsl_matrix_free(gsl_matrix *m);
double gsl_matrix_get(const gsl_matrix *m, size_t i, size_t j);
void gsl_matrix_set(gsl_matrix *m, size_t i, size_t j, double x);
double *gsl_matrix_ptr(gsl_matrix *m, size_t i, size_t j);
void gsl_matrix_set_all(gsl_matrix *m, double x);
void gsl_matrix_set_zero(gsl_matrix *m);
int gsl_matrix_memcpy(gsl_matrix *to, const gsl_matrix *from);
gsl_matrix_view gsl_matrix_view_array(double *base, size_t rows, size_t columns);
gsl_permutation *gsl_permutation_alloc(size_t n);
void gsl_permutation_free(gsl_permutation *p);
int gsl_linalg_LU_decomp(gsl_matrix *a, gsl_permutation *p, int *sign);
int gsl_linalg_LU_invert(const gsl_matrix *a, const gsl_permutation *p, gsl_matrix *inverse);
int gsl_linalg_LU_solve(const gsl_matrix *a, const gsl_permutation *p, const gsl_vector *b,
                        gsl_vector *x);
double gsl_linalg_LU_det(gsl_matrix *a, int sign);

typedef struct { const char *name; unsigned int min_size; } gsl_interp_type;
typedef gsl_interp_type gsl_interp2d_type;
typedef struct { size_t cache; size_t miss_count; size_t hit_count; } gsl_interp_accel;
typedef struct { const gsl_interp_type *type; double xmin; double xmax; size_t size; void *state; } gsl_interp;
typedef struct { gsl_interp *interp; double *x; double *y; size_t size; } gsl_spline;
typedef struct { const gsl_interp2d_type *type; size_t xsize; size_t ysize; void *state; } gsl_interp2d;
typedef struct { gsl_interp2d interp_object; double *xarr; double *yarr; double *zarr; } gsl_spline2d;
extern const gsl_interp_type *gsl_interp_linear, *gsl_interp_polynomial, *gsl_interp_cspline;
extern const gsl_interp_type *gsl_interp_cspline_periodic, *gsl_interp_akima, *gsl_interp_steffen;
extern const gsl_interp_type *gsl_interp_akima_periodic;
extern const gsl_interp2d_type *gsl_interp2d_bilinear, *gsl_interp2d_bicubic;
gsl_interp_accel *gsl_interp_accel_alloc(void);
int gsl_interp_accel_reset(gsl_interp_accel *a);
size_t gsl_interp_accel_find(gsl_interp_accel *a, const double *x, size_t n, double at);
void gsl_interp_accel_free(gsl_interp_accel *a);
size_t gsl_interp_bsearch(const double *x, double at, size_t low, size_t high);
gsl_interp *gsl_interp_alloc(const gsl_interp_type *type, size_t n);
int gsl_interp_init(gsl_interp *i, const double *x, const double *y, size_t n);
void gsl_interp_free(gsl_interp *i);
double gsl_interp_eval(const gsl_interp *i, const double *x, const double *y, double at,
                       gsl_interp_accel *a);
gsl_spline *gsl_spline_alloc(const gsl_interp_type *type, size_t n);
int gsl_spline_init(gsl_spline *s, const double *x, const double *y, size_t n);
void gsl_spline_free(gsl_spline *s);
double gsl_spline_eval(const gsl_spline *s, double at, gsl_interp_accel *a);
double gsl_spline_eval_deriv(const gsl_spline *s, double at, gsl_interp_accel *a);
double gsl_spline_eval_deriv2(const gsl_spline *s, double at, gsl_interp_accel *a);
double gsl_spline_eval_integ(const gsl_spline *s, double low, double high, gsl_interp_accel *a);
int gsl_spline_eval_e(const gsl_spline *s, double at, gsl_interp_accel *a, double *y);
int gsl_spline_eval_deriv_e(const gsl_spline *s, double at, gsl_interp_accel *a, double *d);
int gsl_spline_eval_deriv2_e(const gsl_spline *s, double at, gsl_interp_accel *a, double *d);
int gsl_spline_eval_integ_e(const gsl_spline *s, double low, double high, gsl_interp_accel *a,
                            double *integral);
gsl_spline2d *gsl_spline2d_alloc(const gsl_interp2d_type *type, size_t nx, size_t ny);
int gsl_spline2d_init(gsl_spline2d *s, const double *x, const double *y, const double *z,
                      size_t nx, size_t ny);
void gsl_spline2d_free(gsl_spline2d *s);
int gsl_spline2d_set(const gsl_spline2d *s, double *z, size_t i, size_t j, double value);
double gsl_spline2d_eval(const gsl_spline2d *s, double x, double y, gsl_interp_accel *xa,
                         gsl_interp_accel *ya);
int gsl_spline2d_eval_e(const gsl_spline2d *s, double x, double y, gsl_interp_accel *xa,
                        gsl_interp_accel *ya, double *z);
int gsl_spline2d_eval_deriv_x_e(const gsl_spline2d *s, double x, double y, gsl_interp_accel *xa,
                                gsl_interp_accel *ya, double *d);
int gsl_spline2d_eval_deriv_y_e(const gsl_spline2d *s, double x, double y, gsl_interp_accel *xa,
                                gsl_interp_accel *ya, double *d);
int gsl_spline2d_eval_deriv_xx_e(const gsl_spline2d *s, double x, double y, gsl_interp_accel *xa,
                                 gsl_interp_accel *ya, double *d);

typedef struct { size_t limit; size_t size; } gsl_integration_workspace;
typedef struct { size_t size; } gsl_integration_cquad_workspace;
typedef struct { size_t n; double *x; double *w; } gsl_integration_glfixed_table;
gsl_integration_workspace *gsl_integration_workspace_alloc(size_t n);
void gsl_integration_workspace_free(gsl_integration_workspace *w);
gsl_integration_cquad_workspace *gsl_integration_cquad_workspace_alloc(size_t n);
void gsl_integration_cquad_workspace_free(gsl_integration_cquad_workspace *w);
gsl_integration_glfixed_table *gsl_integration_glfixed_table_alloc(size_t n);
void gsl_integration_glfixed_table_free(gsl_integration_glfixed_table *t);
double gsl_integration_glfixed(const gsl_function *f, double a, double b,
                               const gsl_integration_glfixed_table *t);
int gsl_integration_qag(const gsl_function *f, double a, double b, double absolute,
                        double relative, size_t limit, int key, gsl_integration_workspace *w,
                        double *result, double *error);
int gsl_integration_qags(const gsl_function *f, double a, double b, double absolute,
                         double relative, size_t limit, gsl_integration_workspace *w,
                         double *result, double *error);
int gsl_integration_qagiu(const gsl_function *f, double a, double absolute, double relative,
                          size_t limit, gsl_integration_workspace *w, double *result,
                          double *error);
int gsl_integration_qng(const gsl_function *f, double a, double b, double absolute,
                        double relative, double *result, double *error, size_t *evaluations);
int gsl_integration_cquad(const gsl_function *f, double a, double b, double absolute,
                          double relative, gsl_integration_cquad_workspace *w, double *result,
                          double *error, size_t *evaluations);

typedef struct { const char *name; } gsl_root_fsolver_type;
typedef struct { const gsl_root_fsolver_type *type; double root; } gsl_root_fsolver;
typedef gsl_root_fsolver gsl_root_fdfsolver;
typedef struct gsl_function_fdf_struct { double (*f)(double, void *); double (*df)(double, void *);
                 void (*fdf)(double, void *, double *, double *); void *params; } gsl_function_fdf;
extern const gsl_root_fsolver_type *gsl_root_fsolver_brent, *gsl_root_fsolver_bisection;
extern const gsl_root_fsolver_type *gsl_root_fsolver_falsepos, *gsl_root_fdfsolver_newton;
gsl_root_fsolver *gsl_root_fsolver_alloc(const gsl_root_fsolver_type *type);
int gsl_root_fsolver_set(gsl_root_fsolver *s, gsl_function *f, double low, double high);
int gsl_root_fsolver_iterate(gsl_root_fsolver *s);
double gsl_root_fsolver_root(const gsl_root_fsolver *s);
double gsl_root_fsolver_x_lower(const gsl_root_fsolver *s);
double gsl_root_fsolver_x_upper(const gsl_root_fsolver *s);
int gsl_root_test_interval(double low, double high, double absolute, double relative);
int gsl_root_test_delta(double x1, double x0, double absolute, double relative);
void gsl_root_fsolver_free(gsl_root_fsolver *s);

typedef struct { const char *name; } gsl_odeiv2_step_type;
typedef struct { int (*function)(double, const double *, double *, void *);
                 int (*jacobian)(double, const double *, double *, double *, void *);
                 size_t dimension; void *params; } gsl_odeiv2_system;
typedef struct gsl_odeiv2_driver_s gsl_odeiv2_driver;
extern const gsl_odeiv2_step_type *gsl_odeiv2_step_rk4, *gsl_odeiv2_step_rkf45;
extern const gsl_odeiv2_step_type *gsl_odeiv2_step_rkck, *gsl_odeiv2_step_rk8pd;
gsl_odeiv2_driver *gsl_odeiv2_driver_alloc_y_new(const gsl_odeiv2_system *s,
    const gsl_odeiv2_step_type *type, double step, double absolute, double relative);
int gsl_odeiv2_driver_apply(gsl_odeiv2_driver *d, double *t, double t1, double y[]);
void gsl_odeiv2_driver_free(gsl_odeiv2_driver *d);

typedef struct { const char *name; unsigned long max; unsigned long min; } gsl_rng_type;
typedef struct { const gsl_rng_type *type; void *state; } gsl_rng;
extern const gsl_rng_type *gsl_rng_default, *gsl_rng_mt19937, *gsl_rng_taus, *gsl_rng_taus2;
extern const gsl_rng_type *gsl_rng_ranlxd1, *gsl_rng_ranlxs0, *gsl_rng_gfsr4;
gsl_rng *gsl_rng_alloc(const gsl_rng_type *type);
const gsl_rng_type *gsl_rng_env_setup(void);
void gsl_rng_set(const gsl_rng *r, unsigned long seed);
void gsl_rng_free(gsl_rng *r);
double gsl_rng_uniform(const gsl_rng *r);
double gsl_rng_uniform_pos(const gsl_rng *r);
unsigned long gsl_rng_uniform_int(const gsl_rng *r, unsigned long n);
unsigned long gsl_rng_get(const gsl_rng *r);
double gsl_ran_gaussian(const gsl_rng *r, double sigma);
double gsl_ran_ugaussian(const gsl_rng *r);
double gsl_ran_gaussian_ziggurat(const gsl_rng *r, double sigma);
double gsl_ran_flat(const gsl_rng *r, double a, double b);
double gsl_ran_exponential(const gsl_rng *r, double mean);
double gsl_ran_gamma(const gsl_rng *r, double a, double b);
unsigned int gsl_ran_poisson(const gsl_rng *r, double mean);
unsigned int gsl_ran_binomial(const gsl_rng *r, double p, unsigned int n);
void gsl_ran_shuffle(const gsl_rng *r, void *base, size_t n, size_t size);
double gsl_ran_gaussian_pdf(double x, double sigma);
double gsl_cdf_ugaussian_P(double x);
double gsl_cdf_ugaussian_Pinv(double p);

double gsl_sf_bessel_J0(double x);
double gsl_sf_bessel_J1(double x);
double gsl_sf_bessel_Jn(int n, double x);
double gsl_sf_bessel_Jnu(double nu, double x);
double gsl_sf_bessel_j0(double x);
double gsl_sf_bessel_j1(double x);
double gsl_sf_bessel_j2(double x);
double gsl_sf_bessel_jl(int l, double x);
double gsl_sf_bessel_K0(double x);
double gsl_sf_bessel_K1(double x);
double gsl_sf_erf(double x);
double gsl_sf_erfc(double x);
double gsl_sf_exp(double x);
double gsl_sf_log(double x);
double gsl_sf_gamma(double x);
double gsl_sf_gamma_inc(double a, double x);
double gsl_sf_gamma_inc_P(double a, double x);
double gsl_sf_lngamma(double x);
double gsl_sf_fact(unsigned int n);
double gsl_sf_choose(unsigned int n, unsigned int m);
double gsl_sf_expint_Ei(double x);
double gsl_sf_hyperg_2F1(double a, double b, double c, double x);
double gsl_sf_legendre_Pl(int l, double x);
double gsl_sf_legendre_Plm(int l, int m, double x);
double gsl_sf_legendre_sphPlm(int l, int m, double x);
int gsl_sf_legendre_Pl_array(int lmax, double x, double result[]);
double gsl_sf_Si(double x);
double gsl_sf_Ci(double x);
double gsl_sf_sinc(double x);
double gsl_sf_zeta(double x);
double gsl_sf_dilog(double x);
double gsl_sf_coupling_3j(int ja, int jb, int jc, int ma, int mb, int mc);
int gsl_sf_gamma_inc_e(double a, double x, gsl_sf_result *r);
int gsl_sf_bessel_jl_e(int l, double x, gsl_sf_result *r);
int gsl_sf_lngamma_e(double x, gsl_sf_result *r);
double gsl_stats_mean(const double data[], size_t stride, size_t n);
double gsl_stats_sd(const double data[], size_t stride, size_t n);

typedef struct { size_t n; double *range; double *bin; } gsl_histogram;
gsl_histogram *gsl_histogram_alloc(size_t n);
int gsl_histogram_increment(gsl_histogram *h, double x);
double gsl_histogram_get(const gsl_histogram *h, size_t i);
void gsl_histogram_free(gsl_histogram *h);

#ifdef __cplusplus
}
#endif

#endif
