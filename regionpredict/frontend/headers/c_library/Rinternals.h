/* The least of R's C interface ("Writing R Extensions", sec. 5 and 6): enough to read a package,
   not to build one. */
#ifndef REGIONPREDICT_RINTERNALS_H
#define REGIONPREDICT_RINTERNALS_H

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SEXPREC *SEXP;
typedef ptrdiff_t R_xlen_t;
typedef int R_len_t;
typedef unsigned char Rbyte;
typedef unsigned int SEXPTYPE;
typedef enum { FALSE = 0, TRUE } Rboolean;
typedef struct { double r; double i; } Rcomplex;
typedef enum { CE_NATIVE = 0, CE_UTF8 = 1, CE_LATIN1 = 2, CE_BYTES = 3, CE_ANY = 99 } cetype_t;
typedef void *(*DL_FUNC)();
typedef struct { const char *name; DL_FUNC fun; int numArgs; } R_CallMethodDef;
typedef struct { const char *name; DL_FUNC fun; int numArgs; void *type; } R_CMethodDef;
typedef R_CallMethodDef R_ExternalMethodDef;
typedef R_CMethodDef R_FortranMethodDef;
typedef struct _DllInfo DllInfo;
typedef void (*R_CFinalizer_t)(SEXP);

#define NILSXP 0
#define SYMSXP 1
#define LISTSXP 2
#define CLOSXP 3
#define ENVSXP 4
#define LANGSXP 6
#define CHARSXP 9
#define LGLSXP 10
#define INTSXP 13
#define REALSXP 14
#define CPLXSXP 15
#define STRSXP 16
#define VECSXP 19
#define EXPRSXP 20
#define EXTPTRSXP 22
#define RAWSXP 24
#define S4SXP 25
#define NA_LOGICAL R_NaInt
#define NA_INTEGER R_NaInt
#define NA_REAL R_NaReal
#define NA_STRING R_NaString
#define R_NaInt INT_MIN
#define R_XLEN_T_MAX 4503599627370496
#define R_LEN_T_MAX INT_MAX
#define R_INLINE inline
#define attribute_visible
#define NORET
#define R_PRINTF_FORMAT(M, N)
#define F77_NAME(name) name##_
#define F77_SUB(name) name##_
#define F77_CALL(name) name##_
#define FCONE
#define FCLEN
#define BLAS_extern extern
#define La_extern extern

extern double R_NaReal, R_NaN, R_PosInf, R_NegInf;
extern SEXP R_NilValue, R_NaString, R_BlankString, R_BlankScalarString, R_GlobalEnv, R_BaseEnv;
extern SEXP R_NamesSymbol, R_DimSymbol, R_DimNamesSymbol, R_ClassSymbol, R_LevelsSymbol;
extern SEXP R_RowNamesSymbol, R_UnboundValue, R_MissingArg, R_EmptyEnv, R_NamespaceRegistry;

#define ISNAN(x) (isnan(x) != 0)
#define ISNA(x) R_IsNA(x)
#define R_FINITE(x) R_finite(x)
int R_IsNA(double x);
int R_IsNaN(double x);
int R_finite(double x);

int *INTEGER(SEXP x);
int *LOGICAL(SEXP x);
double *REAL(SEXP x);
Rcomplex *COMPLEX(SEXP x);
Rbyte *RAW(SEXP x);
SEXP *STRING_PTR(SEXP x);
SEXP *VECTOR_PTR(SEXP x);
void *DATAPTR(SEXP x);
const int *INTEGER_RO(SEXP x);
const int *LOGICAL_RO(SEXP x);
const double *REAL_RO(SEXP x);
const Rcomplex *COMPLEX_RO(SEXP x);
const Rbyte *RAW_RO(SEXP x);
const SEXP *STRING_PTR_RO(SEXP x);
const SEXP *VECTOR_PTR_RO(SEXP x);
const void *DATAPTR_RO(SEXP x);
int INTEGER_ELT(SEXP x, R_xlen_t i);
int LOGICAL_ELT(SEXP x, R_xlen_t i);
double REAL_ELT(SEXP x, R_xlen_t i);
SEXP STRING_ELT(SEXP x, R_xlen_t i);
SEXP VECTOR_ELT(SEXP x, R_xlen_t i);
void SET_STRING_ELT(SEXP x, R_xlen_t i, SEXP v);
SEXP SET_VECTOR_ELT(SEXP x, R_xlen_t i, SEXP v);
void SET_INTEGER_ELT(SEXP x, R_xlen_t i, int v);
void SET_REAL_ELT(SEXP x, R_xlen_t i, double v);
const char *R_CHAR(SEXP x);
#define CHAR(x) R_CHAR(x)

int TYPEOF(SEXP x);
int LENGTH(SEXP x);
R_xlen_t XLENGTH(SEXP x);
R_xlen_t TRUELENGTH(SEXP x);
void SETLENGTH(SEXP x, R_xlen_t n);
void SET_TRUELENGTH(SEXP x, R_xlen_t n);
int ALTREP(SEXP x);
int OBJECT(SEXP x);
int MAYBE_SHARED(SEXP x);
int IS_S4_OBJECT(SEXP x);
int LEVELS(SEXP x);
SEXP ATTRIB(SEXP x);
SEXP PRINTNAME(SEXP x);
SEXP CAR(SEXP x);
SEXP CDR(SEXP x);
SEXP CADR(SEXP x);
SEXP CADDR(SEXP x);
SEXP TAG(SEXP x);

SEXP Rf_protect(SEXP x);
void Rf_unprotect(int n);
#define PROTECT(x) Rf_protect(x)
#define UNPROTECT(n) Rf_unprotect(n)
SEXP Rf_allocVector(SEXPTYPE type, R_xlen_t n);
SEXP Rf_allocMatrix(SEXPTYPE type, int rows, int columns);
SEXP Rf_ScalarReal(double x);
SEXP Rf_ScalarInteger(int x);
SEXP Rf_ScalarLogical(int x);
SEXP Rf_ScalarString(SEXP x);
SEXP Rf_mkString(const char *text);
SEXP Rf_mkChar(const char *text);
SEXP Rf_mkCharLenCE(const char *text, int length, cetype_t encoding);
SEXP Rf_install(const char *name);
SEXP Rf_getAttrib(SEXP x, SEXP name);
SEXP Rf_setAttrib(SEXP x, SEXP name, SEXP value);
SEXP Rf_namesgets(SEXP x, SEXP names);
SEXP Rf_dimgets(SEXP x, SEXP extents);
SEXP Rf_dimnamesgets(SEXP x, SEXP names);
SEXP Rf_classgets(SEXP x, SEXP names);
void DUPLICATE_ATTRIB(SEXP to, SEXP from);
void SHALLOW_DUPLICATE_ATTRIB(SEXP to, SEXP from);
SEXP Rf_coerceVector(SEXP x, SEXPTYPE type);
SEXP Rf_duplicate(SEXP x);
SEXP Rf_shallow_duplicate(SEXP x);
SEXP Rf_eval(SEXP call, SEXP environment);
SEXP Rf_lang1(SEXP a);
SEXP Rf_lang2(SEXP a, SEXP b);
SEXP Rf_lang3(SEXP a, SEXP b, SEXP c);
SEXP Rf_asChar(SEXP x);
int Rf_asInteger(SEXP x);
int Rf_asLogical(SEXP x);
double Rf_asReal(SEXP x);
R_len_t Rf_length(SEXP x);
R_xlen_t Rf_xlength(SEXP x);
int Rf_nrows(SEXP x);
int Rf_ncols(SEXP x);
int Rf_nlevels(SEXP x);
int Rf_inherits(SEXP x, const char *name);
int Rf_isNull(SEXP x);
int Rf_isFactor(SEXP x);
int Rf_isFrame(SEXP x);
int Rf_isFunction(SEXP x);
int Rf_isInteger(SEXP x);
int Rf_isLogical(SEXP x);
int Rf_isMatrix(SEXP x);
int Rf_isNewList(SEXP x);
int Rf_isNumeric(SEXP x);
int Rf_isReal(SEXP x);
int Rf_isString(SEXP x);
int Rf_isVector(SEXP x);
int Rf_isVectorAtomic(SEXP x);
int Rf_isObject(SEXP x);
const char *Rf_type2char(SEXPTYPE type);
void Rf_copyMostAttrib(SEXP from, SEXP to);
void Rf_error(const char *format, ...);
void Rf_warning(const char *format, ...);
void Rprintf(const char *format, ...);
void REprintf(const char *format, ...);
void R_CheckUserInterrupt(void);
void R_FlushConsole(void);
void R_ProcessEvents(void);
void R_PreserveObject(SEXP x);
void R_ReleaseObject(SEXP x);
SEXP R_do_slot(SEXP x, SEXP name);
int R_nchar(SEXP x, int type, Rboolean allow, Rboolean keep, const char *name);

char *R_alloc(size_t n, int size);
void *R_chk_calloc(size_t n, size_t size);
void *R_chk_realloc(void *p, size_t size);
void R_chk_free(void *p);
void *vmaxget(void);
void vmaxset(const void *mark);
#define R_Calloc(n, t) ((t *)R_chk_calloc((size_t)(n), sizeof(t)))
#define R_Realloc(p, n, t) ((t *)R_chk_realloc((void *)(p), (size_t)((n) * sizeof(t))))
#define R_Free(p) (R_chk_free((void *)(p)), (p) = NULL)
#define Memcpy(p, q, n) memcpy(p, q, (size_t)(n) * sizeof(*(p)))
#define Memzero(p, n) memset(p, 0, (size_t)(n) * sizeof(*(p)))
#ifndef STRICT_R_HEADERS
#define Calloc R_Calloc
#define Realloc R_Realloc
#define Free R_Free
#endif

double unif_rand(void);
double norm_rand(void);
double exp_rand(void);
void GetRNGstate(void);
void PutRNGstate(void);
double R_pow(double x, double y);
double R_pow_di(double x, int n);
double R_atof(const char *text);
void R_isort(int *x, int n);
void R_rsort(double *x, int n);
void R_qsort(double *x, size_t first, size_t last);
void R_qsort_I(double *x, int *index, int first, int last);
void R_qsort_int(int *x, size_t first, size_t last);
void R_qsort_int_I(int *x, int *index, int first, int last);
void rsort_with_index(double *x, int *index, int n);
void Rf_revsort(double *x, int *index, int n);
void Rf_iPsort(int *x, int n, int k);
void Rf_rPsort(double *x, int n, int k);

int R_registerRoutines(DllInfo *info, const R_CMethodDef *c, const R_CallMethodDef *call,
                       const R_FortranMethodDef *fortran, const R_ExternalMethodDef *external);
Rboolean R_useDynamicSymbols(DllInfo *info, Rboolean value);
Rboolean R_forceSymbols(DllInfo *info, Rboolean value);
void R_RegisterCCallable(const char *package, const char *name, DL_FUNC function);
DL_FUNC R_GetCCallable(const char *package, const char *name);
SEXP R_MakeExternalPtr(void *p, SEXP tag, SEXP prot);
void *R_ExternalPtrAddr(SEXP x);
void R_ClearExternalPtr(SEXP x);
void R_RegisterCFinalizerEx(SEXP x, R_CFinalizer_t function, Rboolean onexit);

#ifndef R_NO_REMAP
#define allocMatrix Rf_allocMatrix
#define allocVector Rf_allocVector
#define asChar Rf_asChar
#define asInteger Rf_asInteger
#define asLogical Rf_asLogical
#define asReal Rf_asReal
#define classgets Rf_classgets
#define coerceVector Rf_coerceVector
#define copyMostAttrib Rf_copyMostAttrib
#define dimgets Rf_dimgets
#define dimnamesgets Rf_dimnamesgets
#define duplicate Rf_duplicate
#define error Rf_error
#define eval Rf_eval
#define getAttrib Rf_getAttrib
#define inherits Rf_inherits
#define install Rf_install
#define iPsort Rf_iPsort
#define isFactor Rf_isFactor
#define isFrame Rf_isFrame
#define isFunction Rf_isFunction
#define isInteger Rf_isInteger
#define isLogical Rf_isLogical
#define isMatrix Rf_isMatrix
#define isNewList Rf_isNewList
#define isNull Rf_isNull
#define isNumeric Rf_isNumeric
#define isObject Rf_isObject
#define isReal Rf_isReal
#define isString Rf_isString
#define isVector Rf_isVector
#define isVectorAtomic Rf_isVectorAtomic
#define lang1 Rf_lang1
#define lang2 Rf_lang2
#define lang3 Rf_lang3
#define length Rf_length
#define mkChar Rf_mkChar
#define mkCharLenCE Rf_mkCharLenCE
#define mkString Rf_mkString
#define ncols Rf_ncols
#define nlevels Rf_nlevels
#define nrows Rf_nrows
#define protect Rf_protect
#define revsort Rf_revsort
#define rPsort Rf_rPsort
#define ScalarInteger Rf_ScalarInteger
#define ScalarLogical Rf_ScalarLogical
#define ScalarReal Rf_ScalarReal
#define ScalarString Rf_ScalarString
#define setAttrib Rf_setAttrib
#define shallow_duplicate Rf_shallow_duplicate
#define type2char Rf_type2char
#define unprotect Rf_unprotect
#define warning Rf_warning
#define xlength Rf_xlength
#endif

#ifdef __cplusplus
}
#endif

#endif
