/* The least of <wchar.h>. */
#ifndef REGIONPREDICT_WCHAR_H
#define REGIONPREDICT_WCHAR_H

#include <stdarg.h>
#include <stddef.h>

typedef unsigned int wint_t;
typedef struct {
    int count;
    int value;
} mbstate_t;

#define WEOF 0xffffffffu

#ifdef __cplusplus
extern "C" {
#endif
size_t wcslen(const wchar_t *text);
wchar_t *wcscpy(wchar_t *to, const wchar_t *from);
int wcscmp(const wchar_t *left, const wchar_t *right);
int wprintf(const wchar_t *format, ...);
size_t mbrtowc(wchar_t *to, const char *from, size_t bytes, mbstate_t *state);
size_t wcrtomb(char *to, wchar_t from, mbstate_t *state);
#ifdef __cplusplus
}
#endif

#endif
