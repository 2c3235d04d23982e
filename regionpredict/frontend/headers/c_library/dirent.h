/* The least of <dirent.h>. */
#ifndef REGIONPREDICT_DIRENT_H
#define REGIONPREDICT_DIRENT_H

#include <sys/types.h>

typedef struct __dirstream DIR;
struct dirent {
    ino_t d_ino;
    off_t d_off;
    unsigned short d_reclen;
    unsigned char d_type;
    char d_name[256];
};

#ifdef __cplusplus
extern "C" {
#endif
DIR *opendir(const char *path);
struct dirent *readdir(DIR *folder);
int closedir(DIR *folder);
#ifdef __cplusplus
}
#endif

#endif
