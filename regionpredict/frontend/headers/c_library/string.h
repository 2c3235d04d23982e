/* The least of <string.h>. */
#ifndef REGIONPREDICT_STRING_H
#define REGIONPREDICT_STRING_H

#include <features.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
void *memcpy(void *to, const void *from, size_t bytes);
void *mempcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *left, const void *right, size_t bytes);
void *memchr(const void *in, int value, size_t bytes);
void *memmem(const void *in, size_t bytes, const void *what, size_t length);
char *strcpy(char *to, const char *from);
char *stpcpy(char *to, const char *from);
char *strncpy(char *to, const char *from, size_t bytes);
char *strcat(char *to, const char *from);
char *strncat(char *to, const char *from, size_t bytes);
int strcmp(const char *left, const char *right);
int strncmp(const char *left, const char *right, size_t bytes);
int strcoll(const char *left, const char *right);
size_t strxfrm(char *to, const char *from, size_t bytes);
char *strchr(const char *in, int value);
char *strrchr(const char *in, int value);
char *strchrnul(const char *in, int value);
size_t strspn(const char *in, const char *accept);
size_t strcspn(const char *in, const char *reject);
char *strpbrk(const char *in, const char *accept);
char *strstr(const char *in, const char *what);
char *strcasestr(const char *in, const char *what);
char *strtok(char *in, const char *separators);
char *strtok_r(char *in, const char *separators, char **state);
char *strsep(char **in, const char *separators);
size_t strlen(const char *in);
size_t strnlen(const char *in, size_t bytes);
char *strdup(const char *in);
char *strndup(const char *in, size_t bytes);
char *strerror(int number);
int strerror_r(int number, char *to, size_t bytes);
char *strsignal(int number);
int strcasecmp(const char *left, const char *right);
int strncasecmp(const char *left, const char *right, size_t bytes);
void bzero(void *to, size_t bytes);
void bcopy(const void *from, void *to, size_t bytes);
int bcmp(const void *left, const void *right, size_t bytes);
char *index(const char *in, int value);
char *rindex(const char *in, int value);
int ffs(int value);
#ifdef __cplusplus
}
#endif

#endif
