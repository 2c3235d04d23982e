/* The least of <alloca.h>. */
#ifndef REGIONPREDICT_ALLOCA_H
#define REGIONPREDICT_ALLOCA_H

#define alloca(bytes) __builtin_alloca(bytes)

#endif
