#include <gsl/gsl_types.h>
