/* The least of <strings.h>: all of it stands in <string.h>. */
#include <string.h>
