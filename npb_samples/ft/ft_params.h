/*
 * Grid sizes, step counts and constants of FT, one set for each class (NPB report RNR-94-007,
 * sec. 2.3.4; classes W, B and C as in the later problem tables). A constant may be overridden
 * with -DNAME=VALUE; the checksums of ft.c then no longer hold.
 */
#ifndef FT_PARAMS_H
#define FT_PARAMS_H

#include "npb_common.h"

#if defined(CLASS_S)
#define NX 64
#define NY 64
#define NZ 64
#define STEPS 6
#elif defined(CLASS_W)
#define NX 128
#define NY 128
#define NZ 32
#define STEPS 6
#elif defined(CLASS_A)
#define NX 256
#define NY 256
#define NZ 128
#define STEPS 6
#elif defined(CLASS_B)
#define NX 512
#define NY 256
#define NZ 256
#define STEPS 20
#else /* 5.4 GB of static arrays: on x86-64 compile and link with -mcmodel=medium */
#define NX 512
#define NY 512
#define NZ 512
#define STEPS 20
#endif

/* -DGRID_POINTS=32, a power of two from 16 on, takes another grid: verification must fail. */
#ifdef GRID_POINTS
#undef NX
#undef NY
#undef NZ
#define NX GRID_POINTS
#define NY GRID_POINTS
#define NZ GRID_POINTS
#endif

/* Row length with one element of padding: rows a power of two apart would share cache sets. */
#define NXP (NX + 1)

/* Longest of the three directions. */
#define NMAX (NX > NY ? (NX > NZ ? NX : NZ) : (NY > NZ ? NY : NZ))

/* Lines that are transformed together; divides every grid size. */
#define FFTBLOCK 16

/* Diffusivity of the heat equation that is solved. */
#ifndef FT_ALPHA
#define FT_ALPHA 1.0e-6
#endif

#ifndef FT_SEED
#define FT_SEED NPB_RANDOM_SEED
#endif

/* Grid points in the checksum, and how closely it has to agree with the reference. */
#define CHECKSUM_POINTS 1024
#define FT_EPSILON 1.0e-12

#endif
