/* The least of <stdio.h>. */
#ifndef REGIONPREDICT_STDIO_H
#define REGIONPREDICT_STDIO_H

#include <features.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/types.h>

#define EOF (-1)
#define BUFSIZ 8192
#define FILENAME_MAX 4096
#define FOPEN_MAX 16
#define L_tmpnam 20
#define TMP_MAX 238328
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define _IOFBF 0
#define _IOLBF 1
#define _IONBF 2

typedef struct _IO_FILE FILE;
typedef struct {
    long position;
    long state;
} fpos_t;

#ifdef __cplusplus
extern "C" {
#endif
extern FILE *stdin;
extern FILE *stdout;
extern FILE *stderr;
#define stdin stdin
#define stdout stdout
#define stderr stderr

FILE *fopen(const char *path, const char *mode);
FILE *freopen(const char *path, const char *mode, FILE *file);
FILE *fdopen(int descriptor, const char *mode);
FILE *fmemopen(void *memory, size_t bytes, const char *mode);
FILE *popen(const char *command, const char *mode);
FILE *tmpfile(void);
char *tmpnam(char *name);
int pclose(FILE *file);
int fclose(FILE *file);
int fflush(FILE *file);
void setbuf(FILE *file, char *buffer);
int setvbuf(FILE *file, char *buffer, int mode, size_t bytes);
int fileno(FILE *file);
int printf(const char *format, ...);
int fprintf(FILE *file, const char *format, ...);
int dprintf(int descriptor, const char *format, ...);
int sprintf(char *to, const char *format, ...);
int snprintf(char *to, size_t bytes, const char *format, ...);
int asprintf(char **to, const char *format, ...);
int vprintf(const char *format, va_list arguments);
int vfprintf(FILE *file, const char *format, va_list arguments);
int vsprintf(char *to, const char *format, va_list arguments);
int vsnprintf(char *to, size_t bytes, const char *format, va_list arguments);
int vasprintf(char **to, const char *format, va_list arguments);
int scanf(const char *format, ...);
int fscanf(FILE *file, const char *format, ...);
int sscanf(const char *from, const char *format, ...);
int vscanf(const char *format, va_list arguments);
int vfscanf(FILE *file, const char *format, va_list arguments);
int vsscanf(const char *from, const char *format, va_list arguments);
int fgetc(FILE *file);
int getc(FILE *file);
int getchar(void);
int getc_unlocked(FILE *file);
int ungetc(int c, FILE *file);
int fputc(int c, FILE *file);
int putc(int c, FILE *file);
int putchar(int c);
char *fgets(char *to, int bytes, FILE *file);
char *gets(char *to);
int fputs(const char *text, FILE *file);
int puts(const char *text);
ssize_t getline(char **line, size_t *bytes, FILE *file);
ssize_t getdelim(char **line, size_t *bytes, int delimiter, FILE *file);
size_t fread(void *to, size_t bytes, size_t count, FILE *file);
size_t fwrite(const void *from, size_t bytes, size_t count, FILE *file);
int fseek(FILE *file, long offset, int from);
int fseeko(FILE *file, off_t offset, int from);
long ftell(FILE *file);
off_t ftello(FILE *file);
void rewind(FILE *file);
int fgetpos(FILE *file, fpos_t *position);
int fsetpos(FILE *file, const fpos_t *position);
void clearerr(FILE *file);
int feof(FILE *file);
int ferror(FILE *file);
void perror(const char *text);
int remove(const char *path);
int rename(const char *from, const char *to);
void flockfile(FILE *file);
void funlockfile(FILE *file);
#ifdef __cplusplus
}
#endif

#endif
