/* The least of <assert.h>; it may be read again with another NDEBUG. */
#undef assert
#ifdef __cplusplus
extern "C" {
#endif
extern void __assert_fail(const char *text, const char *file, unsigned int line, const char *name);
#ifdef __cplusplus
}
#endif
#ifdef NDEBUG
#define assert(condition) ((void)(0))
#elif defined(__cplusplus)
#define assert(condition) \
    ((condition) ? (void)(0) : __assert_fail(#condition, __FILE__, __LINE__, __func__))
#else
#define assert(condition)                                                        \
    ((void)sizeof((condition) ? 1 : 0), __extension__({                          \
        if (condition) {                                                         \
        } else                                                                   \
            __assert_fail(#condition, __FILE__, __LINE__, __extension__ __func__); \
    }))
#endif
#ifndef __cplusplus
#undef static_assert
#define static_assert _Static_assert
#endif
