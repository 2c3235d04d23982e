/* The least of <memory.h>: all of it stands in <string.h>. */
#include <string.h>
