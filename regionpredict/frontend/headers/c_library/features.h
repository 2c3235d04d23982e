/* The least of <features.h>: which C library the headers stand for. */
#ifndef REGIONPREDICT_FEATURES_H
#define REGIONPREDICT_FEATURES_H

#define __GLIBC__ 2
#define __GLIBC_MINOR__ 17
#define __GNU_LIBRARY__ 6
#define _FEATURES_H 1

#endif
