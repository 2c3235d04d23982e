#include <Rinternals.h>
