/*
 * The class of the problem, chosen at compile time: -DCLASS_S, or -DCLASS="'S'" (a character).
 * Afterwards exactly one of CLASS_S, CLASS_W, CLASS_A, CLASS_B, CLASS_C is defined, and
 * NPB_CLASS is its letter as a character. Without a choice the class is S.
 */
#ifndef NPB_CLASS_H
#define NPB_CLASS_H

#if !defined(CLASS_S) && !defined(CLASS_W) && !defined(CLASS_A) && !defined(CLASS_B) && \
    !defined(CLASS_C)
#if !defined(CLASS)
#define CLASS_S
#elif CLASS == 'S'
#define CLASS_S
#elif CLASS == 'W'
#define CLASS_W
#elif CLASS == 'A'
#define CLASS_A
#elif CLASS == 'B'
#define CLASS_B
#elif CLASS == 'C'
#define CLASS_C
#else
#error "CLASS must be one of 'S', 'W', 'A', 'B', 'C'"
#endif
#endif

#if defined(CLASS_S)
#define NPB_CLASS 'S'
#elif defined(CLASS_W)
#define NPB_CLASS 'W'
#elif defined(CLASS_A)
#define NPB_CLASS 'A'
#elif defined(CLASS_B)
#define NPB_CLASS 'B'
#else
#define NPB_CLASS 'C'
#endif

#endif
