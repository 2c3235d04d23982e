/* The least of <getopt.h>. */
#ifndef REGIONPREDICT_GETOPT_H
#define REGIONPREDICT_GETOPT_H

#include <unistd.h>

#define no_argument 0
#define required_argument 1
#define optional_argument 2

struct option {
    const char *name;
    int has_arg;
    int *flag;
    int val;
};

#ifdef __cplusplus
extern "C" {
#endif
int getopt_long(int count, char *const arguments[], const char *options,
                const struct option *known, int *which);
int getopt_long_only(int count, char *const arguments[], const char *options,
                     const struct option *known, int *which);
#ifdef __cplusplus
}
#endif

#endif
