/* The least of <sys/utsname.h>. */
#ifndef REGIONPREDICT_SYS_UTSNAME_H
#define REGIONPREDICT_SYS_UTSNAME_H

struct utsname {
    char sysname[65];
    char nodename[65];
    char release[65];
    char version[65];
    char machine[65];
    char domainname[65];
};

#ifdef __cplusplus
extern "C" {
#endif
int uname(struct utsname *to);
#ifdef __cplusplus
}
#endif

#endif
