/* The least of <unistd.h>. */
#ifndef REGIONPREDICT_UNISTD_H
#define REGIONPREDICT_UNISTD_H

#include <features.h>
#include <stddef.h>
#include <sys/types.h>

#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define F_OK 0
#define X_OK 1
#define W_OK 2
#define R_OK 4
#ifndef SEEK_SET
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#endif
#define _SC_PAGESIZE 30
#define _SC_PAGE_SIZE 30
#define _SC_CLK_TCK 2
#define _SC_NPROCESSORS_CONF 83
#define _SC_NPROCESSORS_ONLN 84
#define _SC_PHYS_PAGES 85
#define _SC_AVPHYS_PAGES 86

#ifdef __cplusplus
extern "C" {
#endif
extern char **environ;
extern char *optarg;
extern int optind;
extern int opterr;
extern int optopt;
int getopt(int count, char *const arguments[], const char *options);
int access(const char *path, int mode);
int chdir(const char *path);
int close(int descriptor);
int dup(int descriptor);
int dup2(int from, int to);
int execv(const char *path, char *const arguments[]);
int execvp(const char *file, char *const arguments[]);
void _exit(int status);
pid_t fork(void);
int fsync(int descriptor);
int ftruncate(int descriptor, off_t bytes);
int truncate(const char *path, off_t bytes);
char *getcwd(char *to, size_t bytes);
int gethostname(char *to, size_t bytes);
pid_t getpid(void);
pid_t getppid(void);
uid_t getuid(void);
gid_t getgid(void);
int getpagesize(void);
int isatty(int descriptor);
off_t lseek(int descriptor, off_t offset, int from);
int pipe(int descriptors[2]);
ssize_t pread(int descriptor, void *to, size_t bytes, off_t offset);
ssize_t pwrite(int descriptor, const void *from, size_t bytes, off_t offset);
ssize_t read(int descriptor, void *to, size_t bytes);
ssize_t readlink(const char *path, char *to, size_t bytes);
int rmdir(const char *path);
void *sbrk(long bytes);
unsigned int alarm(unsigned int seconds);
unsigned int sleep(unsigned int seconds);
int usleep(unsigned int microseconds);
int link(const char *from, const char *to);
int symlink(const char *from, const char *to);
int unlink(const char *path);
long sysconf(int name);
ssize_t write(int descriptor, const void *from, size_t bytes);
#ifdef __cplusplus
}
#endif

#endif
