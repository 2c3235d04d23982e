/* The least of <cblas.h>: the enumerations. Its functions are known by their names. */
#ifndef REGIONPREDICT_CBLAS_H
#define REGIONPREDICT_CBLAS_H

typedef enum { CblasRowMajor = 101, CblasColMajor = 102 } CBLAS_LAYOUT;
typedef CBLAS_LAYOUT CBLAS_ORDER;
typedef enum { CblasNoTrans = 111, CblasTrans = 112, CblasConjTrans = 113 } CBLAS_TRANSPOSE;
typedef enum { CblasUpper = 121, CblasLower = 122 } CBLAS_UPLO;
typedef enum { CblasNonUnit = 131, CblasUnit = 132 } CBLAS_DIAG;
typedef enum { CblasLeft = 141, CblasRight = 142 } CBLAS_SIDE;

#ifdef __cplusplus
extern "C" {
#endif
double cblas_ddot(int n, const double *x, int ix, const double *y, int iy);
float cblas_sdot(int n, const float *x, int ix, const float *y, int iy);
double cblas_dnrm2(int n, const double *x, int ix);
double cblas_dasum(int n, const double *x, int ix);
void cblas_daxpy(int n, double a, const double *x, int ix, double *y, int iy);
void cblas_saxpy(int n, float a, const float *x, int ix, float *y, int iy);
void cblas_dcopy(int n, const double *x, int ix, double *y, int iy);
void cblas_dscal(int n, double a, double *x, int ix);
void cblas_dgemv(CBLAS_LAYOUT order, CBLAS_TRANSPOSE ta, int m, int n, double alpha,
                 const double *a, int lda, const double *x, int ix, double beta, double *y, int iy);
void cblas_dger(CBLAS_LAYOUT order, int m, int n, double alpha, const double *x, int ix,
                const double *y, int iy, double *a, int lda);
void cblas_dgemm(CBLAS_LAYOUT order, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k,
                 double alpha, const double *a, int lda, const double *b, int ldb, double beta,
                 double *c, int ldc);
void cblas_sgemm(CBLAS_LAYOUT order, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k,
                 float alpha, const float *a, int lda, const float *b, int ldb, float beta,
                 float *c, int ldc);
void cblas_dsyrk(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE t, int n, int k, double alpha,
                 const double *a, int lda, double beta, double *c, int ldc);
#ifdef __cplusplus
}
#endif

#endif
