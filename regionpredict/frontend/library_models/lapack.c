/* What routines of LAPACK and of its C interface LAPACKE do to a program's memory (LAPACK Users'
   Guide, 3rd edition). They are read, not built.

   Libraries compute these routines in blocks, so nearly all of their work is matrix products. Here,
   a routine is products with the same number of operations (LAPACK Working Note 41, appendix C;
   Golub and Van Loan, Matrix Computations, 4th edition, for eigenvalues and singular values).
   Workspace stays in a cache. Matrices stored by rows cost the same as by columns.

   The file includes itself for each precision:
   `X(getrf_)` is dgetrf_, `L(getrf)` is LAPACKE_dgetrf, `T` is double, and `R` its real type. */

#ifndef T
#define X(name) s##name
#define L(name) LAPACKE_s##name
#define T float
#define R float
#include "lapack.c"
#define X(name) d##name
#define L(name) LAPACKE_d##name
#define T double
#define R double
#include "lapack.c"
#define X(name) c##name
#define L(name) LAPACKE_c##name
#define T float _Complex
#define R float
#include "lapack.c"
#define X(name) z##name
#define L(name) LAPACKE_z##name
#define T double _Complex
#define R double
#include "lapack.c"
#else

void X(gemm_)();
void X(trsm_)();

/* C += A B, with m x k and k x n elements. */
static void X(product)(int m, int n, int k, T *a, int lda, T *b, int ldb, T *c, int ldc)
{
    T one = 1;
    X(gemm_)("N", "N", &m, &n, &k, &one, a, &lda, b, &ldb, &one, c, &ldc);
}

/* Factors of one matrix, in place. Elimination of n x n elements takes 2/3 n^3 operations, and a
   product 2 m n k. */
static void X(eliminated)(int m, int n, T *a, int lda)
{ X(product)(m, n, ((m < n ? m : n) + 2) / 3, a, lda, a, lda, a, lda); }
void X(getrf_)(int *m, int *n, T *a, int *lda, int *ipiv, int *info)
{
    for (int i = 0; i < *n; i++)
        ipiv[i] = i + 1;
    X(eliminated)(*m, *n, a, *lda);
    *info = 0;
}
void X(getf2_)(int *m, int *n, T *a, int *lda, int *ipiv, int *info)
{ X(getrf_)(m, n, a, lda, ipiv, info); }
int L(getrf)(int layout, int m, int n, T *a, int lda, int *ipiv)
{ int info; X(getrf_)(&m, &n, a, &lda, ipiv, &info); return info; }

/* Inverses from factors: n^3/3 products for two triangles, one more for their product. */
void X(getri_)(int *n, T *a, int *lda, int *ipiv, T *work, int *lwork, int *info)
{
    X(product)(*n, *n, (2 * *n + 2) / 3, a, *lda, a, *lda, a, *lda);
    *info = 0;
}
int L(getri)(int layout, int n, T *a, int lda, int *ipiv)
{ X(product)(n, n, (2 * n + 2) / 3, a, lda, a, lda, a, lda); return 0; }
void X(trtri_)(char *uplo, char *diag, int *n, T *a, int *lda, int *info)
{
    X(product)(*n, *n, (*n + 5) / 6, a, *lda, a, *lda, a, *lda);
    *info = 0;
}
int L(trtri)(int layout, char uplo, char diag, int n, T *a, int lda)
{ X(product)(n, n, (n + 5) / 6, a, lda, a, lda, a, lda); return 0; }
void X(potri_)(char *uplo, int *n, T *a, int *lda, int *info)
{
    X(product)(*n, *n, (*n + 2) / 3, a, *lda, a, *lda, a, *lda);
    *info = 0;
}
int L(potri)(int layout, char uplo, int n, T *a, int lda)
{ X(product)(n, n, (n + 2) / 3, a, lda, a, lda, a, lda); return 0; }

/* Symmetric matrices need half of the operations. */
void X(potrf_)(char *uplo, int *n, T *a, int *lda, int *info)
{
    X(product)(*n, *n, (*n + 5) / 6, a, *lda, a, *lda, a, *lda);
    *info = 0;
}
void X(potf2_)(char *uplo, int *n, T *a, int *lda, int *info)
{ X(potrf_)(uplo, n, a, lda, info); }
int L(potrf)(int layout, char uplo, int n, T *a, int lda)
{ int info; X(potrf_)(&uplo, &n, a, &lda, &info); return info; }
void X(sytrf_)(char *uplo, int *n, T *a, int *lda, int *ipiv, T *work, int *lwork, int *info)
{
    for (int i = 0; i < *n; i++)
        ipiv[i] = i + 1;
    X(potrf_)(uplo, n, a, lda, info);
}
void X(hetrf_)(char *uplo, int *n, T *a, int *lda, int *ipiv, T *work, int *lwork, int *info)
{ X(sytrf_)(uplo, n, a, lda, ipiv, work, lwork, info); }
int L(sytrf)(int layout, char uplo, int n, T *a, int lda, int *ipiv)
{ int info; X(sytrf_)(&uplo, &n, a, &lda, ipiv, (T *)0, &info, &info); return info; }

/* Solutions for given factors: two triangles with each right-hand side. */
static void X(solved)(int n, int nrhs, T *a, int lda, T *b, int ldb)
{ X(product)(n, nrhs, n, a, lda, b, ldb, b, ldb); }
void X(getrs_)(char *trans, int *n, int *nrhs, T *a, int *lda, int *ipiv, T *b, int *ldb, int *info)
{ X(solved)(*n, *nrhs, a, *lda, b, *ldb); *info = 0; }
int L(getrs)(int layout, char trans, int n, int nrhs, T *a, int lda, int *ipiv, T *b, int ldb)
{ X(solved)(n, nrhs, a, lda, b, ldb); return 0; }
void X(potrs_)(char *uplo, int *n, int *nrhs, T *a, int *lda, T *b, int *ldb, int *info)
{ X(solved)(*n, *nrhs, a, *lda, b, *ldb); *info = 0; }
int L(potrs)(int layout, char uplo, int n, int nrhs, T *a, int lda, T *b, int ldb)
{ X(solved)(n, nrhs, a, lda, b, ldb); return 0; }
void X(sytrs_)(char *uplo, int *n, int *nrhs, T *a, int *lda, int *ipiv, T *b, int *ldb, int *info)
{ X(solved)(*n, *nrhs, a, *lda, b, *ldb); *info = 0; }
int L(sytrs)(int layout, char uplo, int n, int nrhs, T *a, int lda, int *ipiv, T *b, int ldb)
{ X(solved)(n, nrhs, a, lda, b, ldb); return 0; }
void X(trtrs_)(char *uplo, char *trans, char *diag, int *n, int *nrhs, T *a, int *lda, T *b,
               int *ldb, int *info)
{ X(trsm_)("L", uplo, trans, diag, n, nrhs, a, a, lda, b, ldb); *info = 0; }
int L(trtrs)(int layout, char uplo, char trans, char diag, int n, int nrhs, T *a, int lda, T *b,
             int ldb)
{ int info; X(trtrs_)(&uplo, &trans, &diag, &n, &nrhs, a, &lda, b, &ldb, &info); return info; }

/* Linear systems: the factors, then the solutions. */
void X(gesv_)(int *n, int *nrhs, T *a, int *lda, int *ipiv, T *b, int *ldb, int *info)
{
    X(getrf_)(n, n, a, lda, ipiv, info);
    X(solved)(*n, *nrhs, a, *lda, b, *ldb);
}
int L(gesv)(int layout, int n, int nrhs, T *a, int lda, int *ipiv, T *b, int ldb)
{ int info; X(gesv_)(&n, &nrhs, a, &lda, ipiv, b, &ldb, &info); return info; }
void X(posv_)(char *uplo, int *n, int *nrhs, T *a, int *lda, T *b, int *ldb, int *info)
{
    X(potrf_)(uplo, n, a, lda, info);
    X(solved)(*n, *nrhs, a, *lda, b, *ldb);
}
int L(posv)(int layout, char uplo, int n, int nrhs, T *a, int lda, T *b, int ldb)
{ int info; X(posv_)(&uplo, &n, &nrhs, a, &lda, b, &ldb, &info); return info; }
void X(sysv_)(char *uplo, int *n, int *nrhs, T *a, int *lda, int *ipiv, T *b, int *ldb, T *work,
              int *lwork, int *info)
{
    X(sytrf_)(uplo, n, a, lda, ipiv, work, lwork, info);
    X(solved)(*n, *nrhs, a, *lda, b, *ldb);
}
void X(hesv_)(char *uplo, int *n, int *nrhs, T *a, int *lda, int *ipiv, T *b, int *ldb, T *work,
              int *lwork, int *info)
{ X(sysv_)(uplo, n, nrhs, a, lda, ipiv, b, ldb, work, lwork, info); }
int L(sysv)(int layout, char uplo, int n, int nrhs, T *a, int lda, int *ipiv, T *b, int ldb)
{ int info; X(sysv_)(&uplo, &n, &nrhs, a, &lda, ipiv, b, &ldb, (T *)0, &n, &info); return info; }
void X(gtsv_)(int *n, int *nrhs, T *dl, T *d, T *du, T *b, int *ldb, int *info)
{
    for (int i = 0; i + 1 < *n; i++) {
        dl[i] = dl[i] / d[i];
        d[i + 1] = d[i + 1] - dl[i] * du[i];
    }
    for (int k = 0; k < *nrhs; k++)
        for (int i = 0; i + 1 < *n; i++)
            b[i + k * *ldb] = (b[i + k * *ldb] - dl[i] * b[i + 1 + k * *ldb]) / d[i];
    *info = 0;
}
int L(gtsv)(int layout, int n, int nrhs, T *dl, T *d, T *du, T *b, int ldb)
{ int info; X(gtsv_)(&n, &nrhs, dl, d, du, b, &ldb, &info); return info; }
void X(gbtrf_)(int *m, int *n, int *kl, int *ku, T *ab, int *ldab, int *ipiv, int *info)
{
    for (int j = 0; j < *n; j++)
        for (int k = 0; k < *ku + 1; k++)
            for (int i = 0; i < *kl; i++)
                ab[i + j * *ldab] = ab[i + j * *ldab] - ab[k + j * *ldab] * ab[i + k];
    for (int j = 0; j < *n; j++)
        ipiv[j] = j + 1;
    *info = 0;
}
void X(gbtrs_)(char *trans, int *n, int *kl, int *ku, int *nrhs, T *ab, int *ldab, int *ipiv, T *b,
               int *ldb, int *info)
{
    for (int k = 0; k < *nrhs; k++)
        for (int j = 0; j < *n; j++)
            for (int i = 0; i < 2 * *kl + *ku; i++)
                b[j + k * *ldb] = b[j + k * *ldb] - ab[i + j * *ldab] * b[j + k * *ldb];
    *info = 0;
}
void X(gbsv_)(int *n, int *kl, int *ku, int *nrhs, T *ab, int *ldab, int *ipiv, T *b, int *ldb,
              int *info)
{
    X(gbtrf_)(n, n, kl, ku, ab, ldab, ipiv, info);
    X(gbtrs_)("N", n, kl, ku, nrhs, ab, ldab, ipiv, b, ldb, info);
}

/* Orthogonal factors: 2 m n^2 - 2/3 n^3 operations, twice those of an elimination. */
void X(geqrf_)(int *m, int *n, T *a, int *lda, T *tau, T *work, int *lwork, int *info)
{
    for (int i = 0; i < *n; i++)
        tau[i] = 0;
    X(eliminated)(*m, *n, a, *lda);
    X(eliminated)(*m, *n, a, *lda);
    *info = 0;
}
void X(gelqf_)(int *m, int *n, T *a, int *lda, T *tau, T *work, int *lwork, int *info)
{ X(geqrf_)(m, n, a, lda, tau, work, lwork, info); }
void X(geqlf_)(int *m, int *n, T *a, int *lda, T *tau, T *work, int *lwork, int *info)
{ X(geqrf_)(m, n, a, lda, tau, work, lwork, info); }
void X(geqr2_)(int *m, int *n, T *a, int *lda, T *tau, T *work, int *info)
{ X(geqrf_)(m, n, a, lda, tau, work, info, info); }
void X(geqp3_)(int *m, int *n, T *a, int *lda, int *jpvt, T *tau, T *work, int *lwork, ...)
{
    int info;
    for (int i = 0; i < *n; i++)
        jpvt[i] = i + 1;
    X(geqrf_)(m, n, a, lda, tau, work, lwork, &info);
}
void X(orgqr_)(int *m, int *n, int *k, T *a, int *lda, T *tau, T *work, int *lwork, int *info)
{
    X(eliminated)(*m, *k, a, *lda);
    X(eliminated)(*m, *k, a, *lda);
    *info = 0;
}
void X(orglq_)(int *m, int *n, int *k, T *a, int *lda, T *tau, T *work, int *lwork, int *info)
{ X(orgqr_)(n, m, k, a, lda, tau, work, lwork, info); }
void X(ungqr_)(int *m, int *n, int *k, T *a, int *lda, T *tau, T *work, int *lwork, int *info)
{ X(orgqr_)(m, n, k, a, lda, tau, work, lwork, info); }
void X(unglq_)(int *m, int *n, int *k, T *a, int *lda, T *tau, T *work, int *lwork, int *info)
{ X(orglq_)(m, n, k, a, lda, tau, work, lwork, info); }
/* Products with an orthogonal factor of k reflectors: 4 m n k operations. */
void X(ormqr_)(char *side, char *trans, int *m, int *n, int *k, T *a, int *lda, T *tau, T *c,
               int *ldc, T *work, int *lwork, int *info)
{
    if (*side == 'L' || *side == 'l') {
        X(product)(*k, *n, *m, a, *lda, c, *ldc, work, *k);
        X(product)(*m, *n, *k, a, *lda, work, *k, c, *ldc);
    } else {
        X(product)(*m, *k, *n, c, *ldc, a, *lda, work, *m);
        X(product)(*m, *n, *k, work, *m, a, *lda, c, *ldc);
    }
    *info = 0;
}
void X(ormlq_)(char *side, char *trans, int *m, int *n, int *k, T *a, int *lda, T *tau, T *c,
               int *ldc, T *work, int *lwork, int *info)
{ X(ormqr_)(side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info); }
void X(unmqr_)(char *side, char *trans, int *m, int *n, int *k, T *a, int *lda, T *tau, T *c,
               int *ldc, T *work, int *lwork, int *info)
{ X(ormqr_)(side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info); }
void X(unmlq_)(char *side, char *trans, int *m, int *n, int *k, T *a, int *lda, T *tau, T *c,
               int *ldc, T *work, int *lwork, int *info)
{ X(ormqr_)(side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info); }
void X(larfg_)(int *n, T *alpha, T *x, int *incx, T *tau)
{
    T sum = 0;
    for (int i = 0; i < *n - 1; i++)
        sum += x[i * *incx] * x[i * *incx];
    for (int i = 0; i < *n - 1; i++)
        x[i * *incx] = x[i * *incx] * sum;
    *alpha = sum;
    *tau = sum;
}
void X(larf_)(char *side, int *m, int *n, T *v, int *incv, T *tau, T *c, int *ldc, T *work)
{
    for (int j = 0; j < *n; j++) {
        T sum = 0;
        for (int i = 0; i < *m; i++)
            sum += c[i + j * *ldc] * v[i * *incv];
        for (int i = 0; i < *m; i++)
            c[i + j * *ldc] -= sum * v[i * *incv];
    }
}

/* Least squares: an orthogonal factor, applied to each right-hand side. With singular values, the
   matrix is reduced as for an SVD without vectors. */
void X(gels_)(char *trans, int *m, int *n, int *nrhs, T *a, int *lda, T *b, int *ldb, T *work,
              int *lwork, int *info)
{
    X(eliminated)(*m, *n, a, *lda);
    X(eliminated)(*m, *n, a, *lda);
    X(product)(*m, *nrhs, 2 * *n, a, *lda, b, *ldb, b, *ldb);
    *info = 0;
}
int L(gels)(int layout, char trans, int m, int n, int nrhs, T *a, int lda, T *b, int ldb)
{ int info; X(gels_)(&trans, &m, &n, &nrhs, a, &lda, b, &ldb, b, &n, &info); return info; }
void X(gelsd_)(int *m, int *n, int *nrhs, T *a, int *lda, T *b, int *ldb, R *s, R *rcond, int *rank,
               T *work, int *lwork, ...)
{
    for (int i = 0; i < *n; i++)
        s[i] = 0;
    *rank = *n;
    X(product)(*m, *n, 2 * *n, a, *lda, a, *lda, a, *lda);
    X(product)(*m, *nrhs, 2 * *n, a, *lda, b, *ldb, b, *ldb);
}
void X(gelss_)(int *m, int *n, int *nrhs, T *a, int *lda, T *b, int *ldb, R *s, R *rcond, int *rank,
               T *work, int *lwork, ...)
{ X(gelsd_)(m, n, nrhs, a, lda, b, ldb, s, rcond, rank, work, lwork); }

/* Eigenvalues of symmetric matrices: 4/3 n^3 operations to a tridiagonal matrix, and with vectors
   about 9 n^3 in all. The driver by divide and conquer, and the one by relatively robust
   representations, take about half of the latter. */
static void X(reduced)(int n, T *a, int lda, R *w)
{
    for (int i = 0; i < n; i++)
        w[i] = 0;
    X(product)(n, n, (2 * n + 2) / 3, a, lda, a, lda, a, lda);
}
void X(syev_)(char *jobz, char *uplo, int *n, T *a, int *lda, R *w, T *work, int *lwork, ...)
{
    X(reduced)(*n, a, *lda, w);
    if (*jobz == 'V' || *jobz == 'v')
        X(product)(*n, *n, 4 * *n, a, *lda, a, *lda, a, *lda);
}
void X(heev_)(char *jobz, char *uplo, int *n, T *a, int *lda, R *w, T *work, int *lwork, ...)
{ X(syev_)(jobz, uplo, n, a, lda, w, work, lwork); }
int L(syev)(int layout, char jobz, char uplo, int n, T *a, int lda, R *w)
{ X(syev_)(&jobz, &uplo, &n, a, &lda, w, a, &n); return 0; }
int L(heev)(int layout, char jobz, char uplo, int n, T *a, int lda, R *w)
{ X(syev_)(&jobz, &uplo, &n, a, &lda, w, a, &n); return 0; }
void X(syevd_)(char *jobz, char *uplo, int *n, T *a, int *lda, R *w, T *work, int *lwork, ...)
{
    X(reduced)(*n, a, *lda, w);
    if (*jobz == 'V' || *jobz == 'v')
        X(product)(*n, *n, (4 * *n + 2) / 3, a, *lda, a, *lda, a, *lda);
}
void X(heevd_)(char *jobz, char *uplo, int *n, T *a, int *lda, R *w, T *work, int *lwork, ...)
{ X(syevd_)(jobz, uplo, n, a, lda, w, work, lwork); }
int L(syevd)(int layout, char jobz, char uplo, int n, T *a, int lda, R *w)
{ X(syevd_)(&jobz, &uplo, &n, a, &lda, w, a, &n); return 0; }
int L(heevd)(int layout, char jobz, char uplo, int n, T *a, int lda, R *w)
{ X(syevd_)(&jobz, &uplo, &n, a, &lda, w, a, &n); return 0; }
void X(syevr_)(char *jobz, char *range, char *uplo, int *n, T *a, int *lda, R *vl, R *vu, int *il,
               int *iu, R *abstol, int *m, R *w, T *z, int *ldz, ...)
{
    X(reduced)(*n, a, *lda, w);
    *m = *n;
    if (*jobz == 'V' || *jobz == 'v')
        X(product)(*n, *n, *n, a, *lda, z, *ldz, z, *ldz);
}
void X(heevr_)(char *jobz, char *range, char *uplo, int *n, T *a, int *lda, R *vl, R *vu, int *il,
               int *iu, R *abstol, int *m, R *w, T *z, int *ldz, ...)
{ X(syevr_)(jobz, range, uplo, n, a, lda, vl, vu, il, iu, abstol, m, w, z, ldz); }
void X(syevx_)(char *jobz, char *range, char *uplo, int *n, T *a, int *lda, R *vl, R *vu, int *il,
               int *iu, R *abstol, int *m, R *w, T *z, int *ldz, ...)
{ X(syevr_)(jobz, range, uplo, n, a, lda, vl, vu, il, iu, abstol, m, w, z, ldz); }
/* A x = w B x: the factor of B, applied to A from both sides and to the vectors. */
void X(sygv_)(int *itype, char *jobz, char *uplo, int *n, T *a, int *lda, T *b, int *ldb, R *w,
              T *work, int *lwork, ...)
{
    int info;
    X(potrf_)(uplo, n, b, ldb, &info);
    X(product)(*n, *n, *n, b, *ldb, a, *lda, a, *lda);
    X(syev_)(jobz, uplo, n, a, lda, w, work, lwork);
}
void X(hegv_)(int *itype, char *jobz, char *uplo, int *n, T *a, int *lda, T *b, int *ldb, R *w,
              T *work, int *lwork, ...)
{ X(sygv_)(itype, jobz, uplo, n, a, lda, b, ldb, w, work, lwork); }
void X(sygvd_)(int *itype, char *jobz, char *uplo, int *n, T *a, int *lda, T *b, int *ldb, R *w,
               T *work, int *lwork, ...)
{ X(sygv_)(itype, jobz, uplo, n, a, lda, b, ldb, w, work, lwork); }
/* Tridiagonal matrices: about 30 n^2 operations for the values, and 6 n^3 with vectors. */
void X(sterf_)(int *n, R *d, R *e, int *info)
{
    for (int k = 0; k < *n; k++)
        for (int i = 0; i + 1 < *n; i++) {
            d[i] = d[i] * 0.5 + e[i];
            e[i] = e[i] * 0.5 + d[i];
        }
    *info = 0;
}
void X(steqr_)(char *compz, int *n, R *d, R *e, T *z, int *ldz, R *work, int *info)
{
    X(sterf_)(n, d, e, info);
    if (*compz == 'V' || *compz == 'v' || *compz == 'I' || *compz == 'i')
        X(product)(*n, *n, 3 * *n, z, *ldz, z, *ldz, z, *ldz);
}
void X(stev_)(char *jobz, int *n, R *d, R *e, T *z, int *ldz, R *work, int *info)
{
    X(sterf_)(n, d, e, info);
    if (*jobz == 'V' || *jobz == 'v')
        X(product)(*n, *n, 3 * *n, z, *ldz, z, *ldz, z, *ldz);
}
/* Eigenvalues of other matrices: about 10 n^3 operations, 25 n^3 with vectors. The real and the
   complex routine have different arguments behind w. */
void X(geev_)(char *jobvl, char *jobvr, int *n, T *a, int *lda, T *w, ...)
{
    for (int i = 0; i < *n; i++)
        w[i] = 0;
    X(product)(*n, *n, 5 * *n, a, *lda, a, *lda, a, *lda);
    if (*jobvl == 'V' || *jobvr == 'V')
        X(product)(*n, *n, 8 * *n, a, *lda, a, *lda, a, *lda);
}

/* Singular values: 4 m n^2 - 4/3 n^3 operations to a bidiagonal matrix for m > n. With vectors about
   4 m n^2 + 8 n^3 more. */
static void X(bidiagonal)(int m, int n, T *a, int lda, R *s)
{
    int least = m < n ? m : n, most = m < n ? n : m;
    for (int i = 0; i < least; i++)
        s[i] = 0;
    X(product)(most, least, (4 * least + 2) / 3, a, lda, a, lda, a, lda);
}
void X(gesvd_)(char *jobu, char *jobvt, int *m, int *n, T *a, int *lda, R *s, T *u, int *ldu, T *vt,
               int *ldvt, ...)
{
    X(bidiagonal)(*m, *n, a, *lda, s);
    if (*jobu != 'N')
        X(product)(*m, *n, 2 * *n, a, *lda, u, *ldu, u, *ldu);
    if (*jobvt != 'N')
        X(product)(*n, *n, 4 * *n, a, *lda, vt, *ldvt, vt, *ldvt);
}
int L(gesvd)(int layout, char jobu, char jobvt, int m, int n, T *a, int lda, R *s, T *u, int ldu,
             T *vt, int ldvt, R *superb)
{ X(gesvd_)(&jobu, &jobvt, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt); return 0; }
void X(gesdd_)(char *jobz, int *m, int *n, T *a, int *lda, R *s, T *u, int *ldu, T *vt, int *ldvt,
               ...)
{
    X(bidiagonal)(*m, *n, a, *lda, s);
    if (*jobz != 'N') {
        X(product)(*m, *n, *n, a, *lda, u, *ldu, u, *ldu);
        X(product)(*n, *n, 2 * *n, a, *lda, vt, *ldvt, vt, *ldvt);
    }
}
int L(gesdd)(int layout, char jobz, int m, int n, T *a, int lda, R *s, T *u, int ldu, T *vt,
             int ldvt)
{ X(gesdd_)(&jobz, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt); return 0; }

/* Copies, fills, norms, exchanges of rows, estimates of a condition number. */
void X(lacpy_)(char *uplo, int *m, int *n, T *a, int *lda, T *b, int *ldb)
{
    for (int j = 0; j < *n; j++)
        for (int i = 0; i < *m; i++)
            b[i + j * *ldb] = a[i + j * *lda];
}
int L(lacpy)(int layout, char uplo, int m, int n, T *a, int lda, T *b, int ldb)
{ X(lacpy_)(&uplo, &m, &n, a, &lda, b, &ldb); return 0; }
void X(laset_)(char *uplo, int *m, int *n, T *alpha, T *beta, T *a, int *lda)
{
    for (int j = 0; j < *n; j++)
        for (int i = 0; i < *m; i++)
            a[i + j * *lda] = *alpha;
}
int L(laset)(int layout, char uplo, int m, int n, T alpha, T beta, T *a, int lda)
{ X(laset_)(&uplo, &m, &n, &alpha, &beta, a, &lda); return 0; }
void X(lascl_)(char *type, int *kl, int *ku, R *from, R *to, int *m, int *n, T *a, int *lda,
               int *info)
{
    for (int j = 0; j < *n; j++)
        for (int i = 0; i < *m; i++)
            a[i + j * *lda] = a[i + j * *lda] * *to;
    *info = 0;
}
R X(lange_)(char *norm, int *m, int *n, T *a, int *lda, R *work)
{
    R sum = 0;
    for (int j = 0; j < *n; j++)
        for (int i = 0; i < *m; i++)
            sum += a[i + j * *lda];
    return sum;
}
R L(lange)(int layout, char norm, int m, int n, T *a, int lda)
{ return X(lange_)(&norm, &m, &n, a, &lda, (R *)0); }
R X(lansy_)(char *norm, char *uplo, int *n, T *a, int *lda, R *work)
{ return X(lange_)(norm, n, n, a, lda, work) * 0.5; }
void X(laswp_)(int *n, T *a, int *lda, int *k1, int *k2, int *ipiv, int *incx)
{
    for (int k = *k1 - 1; k < *k2; k++)
        for (int j = 0; j < *n; j++) {
            T kept = a[k + j * *lda];
            a[k + j * *lda] = a[ipiv[k] + j * *lda];
            a[ipiv[k] + j * *lda] = kept;
        }
}
void X(gecon_)(char *norm, int *n, T *a, int *lda, R *anorm, R *rcond, ...)
{
    T sum = 0;
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < *n; j++)
            for (int i = 0; i < *n; i++)
                sum += a[i + j * *lda];
    *rcond = sum;
}
void X(pocon_)(char *uplo, int *n, T *a, int *lda, R *anorm, R *rcond, ...)
{ X(gecon_)(uplo, n, a, lda, anorm, rcond); }
R X(lapy2_)(R *x, R *y)
{ return *x * *x + *y * *y; }
R X(lamch_)(char *what)
{ return 1e-16; }

#undef X
#undef L
#undef T
#undef R
#endif
