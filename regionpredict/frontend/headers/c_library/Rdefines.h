/* The least of R's older names for its C interface. */
#ifndef REGIONPREDICT_RDEFINES_H
#define REGIONPREDICT_RDEFINES_H

#include <Rinternals.h>

#define GET_LENGTH(x) Rf_length(x)
#define INTEGER_POINTER(x) INTEGER(x)
#define INTEGER_VALUE(x) Rf_asInteger(x)
#define LOGICAL_POINTER(x) LOGICAL(x)
#define NUMERIC_POINTER(x) REAL(x)
#define NUMERIC_VALUE(x) Rf_asReal(x)
#define NEW_INTEGER(n) Rf_allocVector(INTSXP, n)
#define NEW_LIST(n) Rf_allocVector(VECSXP, n)
#define NEW_NUMERIC(n) Rf_allocVector(REALSXP, n)
#define AS_INTEGER(x) Rf_coerceVector(x, INTSXP)
#define AS_NUMERIC(x) Rf_coerceVector(x, REALSXP)

#endif
