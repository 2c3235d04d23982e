/* The least of <stdlib.h>. */
#ifndef REGIONPREDICT_STDLIB_H
#define REGIONPREDICT_STDLIB_H

#include <features.h>
#include <alloca.h>
#include <stddef.h>

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
#define MB_CUR_MAX 6

typedef struct {
    int quot;
    int rem;
} div_t;
typedef struct {
    long quot;
    long rem;
} ldiv_t;
typedef struct {
    long long quot;
    long long rem;
} lldiv_t;

struct drand48_data {
    unsigned short __x[3];
    unsigned short __old_x[3];
    unsigned short __c;
    unsigned short __init;
    unsigned long long __a;
};
struct random_data {
    int *fptr;
    int *rptr;
    int *state;
    int rand_type;
    int rand_deg;
    int rand_sep;
    int *end_ptr;
};

#ifdef __cplusplus
extern "C" {
#endif
void *malloc(size_t bytes);
void *calloc(size_t count, size_t bytes);
void *realloc(void *memory, size_t bytes);
void *reallocarray(void *memory, size_t count, size_t bytes);
void free(void *memory);
void *aligned_alloc(size_t alignment, size_t bytes);
int posix_memalign(void **memory, size_t alignment, size_t bytes);
void *valloc(size_t bytes);
void abort(void);
void exit(int status);
void _Exit(int status);
void quick_exit(int status);
int atexit(void (*function)(void));
char *getenv(const char *name);
char *secure_getenv(const char *name);
int setenv(const char *name, const char *value, int overwrite);
int unsetenv(const char *name);
int putenv(char *text);
int system(const char *command);
int abs(int value);
long labs(long value);
long long llabs(long long value);
div_t div(int numerator, int denominator);
ldiv_t ldiv(long numerator, long denominator);
lldiv_t lldiv(long long numerator, long long denominator);
int atoi(const char *text);
long atol(const char *text);
long long atoll(const char *text);
double atof(const char *text);
long strtol(const char *text, char **end, int base);
long long strtoll(const char *text, char **end, int base);
unsigned long strtoul(const char *text, char **end, int base);
unsigned long long strtoull(const char *text, char **end, int base);
float strtof(const char *text, char **end);
double strtod(const char *text, char **end);
long double strtold(const char *text, char **end);
int rand(void);
int rand_r(unsigned int *seed);
void srand(unsigned int seed);
long random(void);
void srandom(unsigned int seed);
char *initstate(unsigned int seed, char *state, size_t bytes);
char *setstate(char *state);
int random_r(struct random_data *data, int *result);
int srandom_r(unsigned int seed, struct random_data *data);
int initstate_r(unsigned int seed, char *state, size_t bytes, struct random_data *data);
double drand48(void);
double erand48(unsigned short state[3]);
long lrand48(void);
long nrand48(unsigned short state[3]);
long mrand48(void);
long jrand48(unsigned short state[3]);
void srand48(long seed);
unsigned short *seed48(unsigned short state[3]);
int drand48_r(struct drand48_data *data, double *result);
int erand48_r(unsigned short state[3], struct drand48_data *data, double *result);
int lrand48_r(struct drand48_data *data, long *result);
int srand48_r(long seed, struct drand48_data *data);
void *bsearch(const void *key, const void *base, size_t count, size_t bytes,
              int (*compare)(const void *, const void *));
void qsort(void *base, size_t count, size_t bytes, int (*compare)(const void *, const void *));
void qsort_r(void *base, size_t count, size_t bytes,
             int (*compare)(const void *, const void *, void *), void *data);
int mkstemp(char *name);
char *mkdtemp(char *name);
char *mktemp(char *name);
char *realpath(const char *path, char *resolved);
int getloadavg(double averages[], int count);
size_t mbstowcs(wchar_t *to, const char *from, size_t count);
size_t wcstombs(char *to, const wchar_t *from, size_t count);
#ifdef __cplusplus
}
#endif

#endif
