/* What functions of the GNU Scientific Library do to a program's memory, and how often they call
   its functions. Reference manual, version 2.7. They are read, not built.

   An adaptive rule bisects until the error is small. Ten of its intervals are taken as evaluated,
   with an early end, because the number depends on the integrand. Structs have GSL's tags, by which
   their members are identified. */

typedef unsigned long size_t;
enum { INTERVALS = 10 };

struct gsl_function_struct { double (*function)(double x, void *params); void *params; };
typedef struct gsl_function_struct gsl_function;
struct gsl_function_fdf_struct {
    double (*f)(double x, void *params);
    double (*df)(double x, void *params);
    void (*fdf)(double x, void *params, double *y, double *dy);
    void *params;
};
typedef struct gsl_function_fdf_struct gsl_function_fdf;

/* Numerical integration: `points` evaluations in each interval. */
static int adaptive(const gsl_function *f, double a, double b, double tolerance, int points,
                    double *result, double *abserr)
{
    double sum = 0.0, width = b - a;
    for (int k = 0; k < INTERVALS; k++) {
        for (int i = 0; i < points; i++)
            sum += f->function(a + width * i, f->params);
        width *= 0.5;
        if (width * sum < tolerance)
            break;
    }
    *result = sum;
    *abserr = width;
    return 0;
}

int gsl_integration_qag(const gsl_function *f, double a, double b, double epsabs, double epsrel,
                        size_t limit, int key, void *workspace, double *result, double *abserr)
{ return adaptive(f, a, b, epsabs, 31, result, abserr); }
int gsl_integration_qags(const gsl_function *f, double a, double b, double epsabs, double epsrel,
                         size_t limit, void *workspace, double *result, double *abserr)
{ return adaptive(f, a, b, epsabs, 21, result, abserr); }
int gsl_integration_qagp(const gsl_function *f, double *pts, size_t npts, double epsabs,
                         double epsrel, size_t limit, void *workspace, double *result,
                         double *abserr)
{ return adaptive(f, pts[0], pts[1], epsabs, 21, result, abserr); }
int gsl_integration_qagi(gsl_function *f, double epsabs, double epsrel, size_t limit,
                         void *workspace, double *result, double *abserr)
{ return adaptive(f, 0.0, 1.0, epsabs, 30, result, abserr); }
int gsl_integration_qagiu(gsl_function *f, double a, double epsabs, double epsrel, size_t limit,
                          void *workspace, double *result, double *abserr)
{ return adaptive(f, a, 1.0, epsabs, 15, result, abserr); }
int gsl_integration_qagil(gsl_function *f, double b, double epsabs, double epsrel, size_t limit,
                          void *workspace, double *result, double *abserr)
{ return adaptive(f, 0.0, b, epsabs, 15, result, abserr); }
int gsl_integration_cquad(const gsl_function *f, double a, double b, double epsabs, double epsrel,
                          void *workspace, double *result, double *abserr, size_t *nevals)
{
    if (nevals)
        *nevals = 33;
    return adaptive(f, a, b, epsabs, 33, result, abserr);
}
int gsl_integration_romberg(const gsl_function *f, double a, double b, double epsabs,
                            double epsrel, double *result, size_t *neval, void *workspace)
{
    double width;
    *neval = 33;
    return adaptive(f, a, b, epsabs, 33, result, &width);
}
/* Rules of fixed order: 87 evaluations at most, or those of the table. */
int gsl_integration_qng(const gsl_function *f, double a, double b, double epsabs, double epsrel,
                        double *result, double *abserr, size_t *neval)
{
    double sum = 0.0;
    for (int i = 0; i < 87; i++)
        sum += f->function(a + b * i, f->params);
    *result = sum;
    *abserr = sum;
    *neval = 87;
    return 0;
}
typedef struct { size_t n; double *x; double *w; int precomputed; } gsl_integration_glfixed_table;
double gsl_integration_glfixed(const gsl_function *f, double a, double b,
                               const gsl_integration_glfixed_table *t)
{
    double sum = 0.0;
    for (size_t i = 0; i < t->n; i++)
        sum += t->w[i] * f->function(a + b * t->x[i], f->params);
    return sum;
}

/* Numerical differentiation: four evaluations, twice. */
static int difference(const gsl_function *f, double x, double h, double *result, double *abserr)
{
    double sum = 0.0;
    for (int i = 0; i < 8; i++)
        sum += f->function(x + h * i, f->params);
    *result = sum;
    *abserr = h;
    return 0;
}
int gsl_deriv_central(const gsl_function *f, double x, double h, double *result, double *abserr)
{ return difference(f, x, h, result, abserr); }
int gsl_deriv_forward(const gsl_function *f, double x, double h, double *result, double *abserr)
{ return difference(f, x, h, result, abserr); }
int gsl_deriv_backward(const gsl_function *f, double x, double h, double *result, double *abserr)
{ return difference(f, x, h, result, abserr); }

/* Roots and minima in one dimension: an iteration evaluates the function once. */
typedef struct { const void *type; gsl_function *function; double root; double x_lower;
                 double x_upper; void *state; } gsl_root_fsolver;
int gsl_root_fsolver_set(gsl_root_fsolver *s, gsl_function *f, double x_lower, double x_upper)
{
    s->function = f;
    s->x_lower = x_lower;
    s->x_upper = x_upper;
    s->root = f->function(x_lower, f->params) * f->function(x_upper, f->params);
    return 0;
}
int gsl_root_fsolver_iterate(gsl_root_fsolver *s)
{
    s->root = s->function->function(s->root, s->function->params);
    s->x_lower = s->root;
    s->x_upper = s->root;
    return 0;
}
typedef struct { const void *type; gsl_function *function; double x_minimum; double x_lower;
                 double x_upper; double f_minimum; double f_lower; double f_upper;
                 void *state; } gsl_min_fminimizer;
int gsl_min_fminimizer_set(gsl_min_fminimizer *s, gsl_function *f, double x_minimum,
                           double x_lower, double x_upper)
{
    s->function = f;
    s->x_minimum = x_minimum;
    s->x_lower = x_lower;
    s->x_upper = x_upper;
    s->f_minimum = f->function(x_minimum, f->params) + f->function(x_lower, f->params)
                   + f->function(x_upper, f->params);
    return 0;
}
int gsl_min_fminimizer_iterate(gsl_min_fminimizer *s)
{
    s->x_minimum = s->function->function(s->x_minimum, s->function->params);
    s->x_lower = s->x_minimum;
    s->x_upper = s->x_minimum;
    return 0;
}
typedef struct { const void *type; gsl_function_fdf *fdf; double root;
                 void *state; } gsl_root_fdfsolver;
int gsl_root_fdfsolver_set(gsl_root_fdfsolver *s, gsl_function_fdf *fdf, double root)
{
    s->fdf = fdf;
    s->root = fdf->f(root, fdf->params) + fdf->df(root, fdf->params);
    return 0;
}
int gsl_root_fdfsolver_iterate(gsl_root_fdfsolver *s)
{
    s->root = s->fdf->f(s->root, s->fdf->params) / s->fdf->df(s->root, s->fdf->params);
    return 0;
}

/* Ordinary differential equations: six evaluations in each step, ten steps (see above). */
typedef struct { int (*function)(double t, const double y[], double dydt[], void *params);
                 int (*jacobian)(double t, const double y[], double *dfdy, double dfdt[],
                                 void *params);
                 size_t dimension; void *params; } gsl_odeiv2_system;
static int steps(const gsl_odeiv2_system *sys, double *t, double t1, double y[])
{
    double slopes[64];
    for (int k = 0; k < INTERVALS; k++) {
        for (int stage = 0; stage < 6; stage++)
            sys->function(*t, y, slopes, sys->params);
        for (size_t i = 0; i < sys->dimension; i++)
            y[i] += slopes[i];
        *t += 0.1;
        if (*t > t1)
            break;
    }
    return 0;
}
typedef struct { const gsl_odeiv2_system *sys; double h; } gsl_odeiv2_driver;
int gsl_odeiv2_driver_apply(gsl_odeiv2_driver *d, double *t, double t1, double y[])
{ return steps(d->sys, t, t1, y); }
int gsl_odeiv2_evolve_apply(void *e, void *con, void *step, const gsl_odeiv2_system *sys,
                            double *t, double t1, double *h, double y[])
{ return steps(sys, t, t1, y); }

/* Interpolation: a table is read once, and a system of equations with three diagonals is solved. */
static int table(const double x[], const double y[], size_t n)
{
    double slope = 0.0;
    for (size_t i = 0; i + 1 < n; i++)
        slope = (y[i + 1] - y[i]) / (x[i + 1] - x[i]) - slope;
    return slope > 0.0;
}
int gsl_spline_init(void *spline, const double xa[], const double ya[], size_t size)
{ return table(xa, ya, size); }
int gsl_interp_init(void *interp, const double xa[], const double ya[], size_t size)
{ return table(xa, ya, size); }
int gsl_spline2d_init(void *spline, const double xa[], const double ya[], const double za[],
                      size_t xsize, size_t ysize)
{
    double sum = 0.0;
    for (size_t i = 0; i < xsize * ysize; i++)
        sum += za[i];
    return sum > xa[0] * ya[0];
}

/* Arrays of special functions, by recurrence. */
static int recurrence(int lmax, double x, double result[])
{
    result[0] = 1.0;
    result[1] = x;
    for (int l = 2; l <= lmax; l++)
        result[l] = ((2 * l - 1) * x * result[l - 1] - (l - 1) * result[l - 2]) / l;
    return 0;
}
int gsl_sf_legendre_Pl_array(int lmax, double x, double result_array[])
{ return recurrence(lmax, x, result_array); }
int gsl_sf_bessel_jl_array(int lmax, double x, double result_array[])
{ return recurrence(lmax, x, result_array); }
int gsl_sf_bessel_jl_steed_array(int lmax, double x, double *jl_x_array)
{ return recurrence(lmax, x, jl_x_array); }
int gsl_sf_bessel_Jn_array(int nmin, int nmax, double x, double result_array[])
{ return recurrence(nmax - nmin, x, result_array); }

/* Vectors, matrices and histograms. */
typedef struct { size_t size; size_t stride; double *data; void *block; int owner; } gsl_vector;
typedef struct { size_t size1; size_t size2; size_t tda; double *data; void *block;
                 int owner; } gsl_matrix;
double gsl_vector_get(const gsl_vector *v, const size_t i) { return v->data[i * v->stride]; }
void gsl_vector_set(gsl_vector *v, const size_t i, double x) { v->data[i * v->stride] = x; }
double *gsl_vector_ptr(gsl_vector *v, const size_t i) { return v->data + i * v->stride; }
double gsl_matrix_get(const gsl_matrix *m, const size_t i, const size_t j)
{ return m->data[i * m->tda + j]; }
void gsl_matrix_set(gsl_matrix *m, const size_t i, const size_t j, const double x)
{ m->data[i * m->tda + j] = x; }
double *gsl_matrix_ptr(gsl_matrix *m, const size_t i, const size_t j)
{ return m->data + (i * m->tda + j); }
void gsl_vector_set_all(gsl_vector *v, double x)
{
    for (size_t i = 0; i < v->size; i++)
        v->data[i * v->stride] = x;
}
void gsl_vector_set_zero(gsl_vector *v) { gsl_vector_set_all(v, 0.0); }
void gsl_matrix_set_all(gsl_matrix *m, double x)
{
    for (size_t i = 0; i < m->size1; i++)
        for (size_t j = 0; j < m->size2; j++)
            m->data[i * m->tda + j] = x;
}
void gsl_matrix_set_zero(gsl_matrix *m) { gsl_matrix_set_all(m, 0.0); }
int gsl_vector_memcpy(gsl_vector *dest, const gsl_vector *src)
{
    for (size_t i = 0; i < src->size; i++)
        dest->data[i * dest->stride] = src->data[i * src->stride];
    return 0;
}
int gsl_matrix_memcpy(gsl_matrix *dest, const gsl_matrix *src)
{
    for (size_t i = 0; i < src->size1; i++)
        for (size_t j = 0; j < src->size2; j++)
            dest->data[i * dest->tda + j] = src->data[i * src->tda + j];
    return 0;
}
int gsl_blas_ddot(const gsl_vector *x, const gsl_vector *y, double *result)
{
    double sum = 0.0;
    for (size_t i = 0; i < x->size; i++)
        sum += x->data[i * x->stride] * y->data[i * y->stride];
    *result = sum;
    return 0;
}
int gsl_linalg_LU_decomp(gsl_matrix *a, void *p, int *signum)
{
    for (size_t k = 0; k < a->size1; k++)
        for (size_t i = k + 1; i < a->size1; i++)
            for (size_t j = k; j < a->size2; j++)
                a->data[i * a->tda + j] -= a->data[i * a->tda + k] * a->data[k * a->tda + j];
    *signum = 1;
    return 0;
}
int gsl_linalg_LU_solve(const gsl_matrix *lu, const void *p, const gsl_vector *b, gsl_vector *x)
{
    for (size_t i = 0; i < lu->size1; i++) {
        double sum = b->data[i * b->stride];
        for (size_t j = 0; j < lu->size2; j++)
            sum -= lu->data[i * lu->tda + j] * x->data[j * x->stride];
        x->data[i * x->stride] = sum;
    }
    return 0;
}
int gsl_linalg_LU_invert(const gsl_matrix *lu, const void *p, gsl_matrix *inverse)
{
    for (size_t k = 0; k < lu->size1; k++)
        for (size_t i = 0; i < lu->size1; i++)
            for (size_t j = 0; j < lu->size2; j++)
                inverse->data[i * inverse->tda + k] +=
                    lu->data[i * lu->tda + j] * inverse->data[j * inverse->tda + k];
    return 0;
}
typedef struct { size_t n; double *range; double *bin; } gsl_histogram;
int gsl_histogram_increment(gsl_histogram *h, double x)
{
    h->bin[(size_t)x] += 1.0;
    return 0;
}
double gsl_histogram_get(const gsl_histogram *h, size_t i) { return h->bin[i]; }
double gsl_stats_mean(const double data[], const size_t stride, const size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += data[i * stride];
    return sum / n;
}
double gsl_stats_sd(const double data[], const size_t stride, const size_t n)
{
    double mean = gsl_stats_mean(data, stride, n), sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += (data[i * stride] - mean) * (data[i * stride] - mean);
    return sum / n;
}
