/* The least of <libgen.h>. */
#ifndef REGIONPREDICT_LIBGEN_H
#define REGIONPREDICT_LIBGEN_H

#ifdef __cplusplus
extern "C" {
#endif
char *basename(char *path);
char *dirname(char *path);
#ifdef __cplusplus
}
#endif

#endif
