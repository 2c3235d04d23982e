/* SP's sizes for each class: grid points per direction, time steps, length of a time step. */
#ifndef SP_PROBLEM_H
#define SP_PROBLEM_H

#include "npb_class.h"

#if defined(CLASS_S)
#define PROBLEM_SIZE 12
#define TIME_STEPS 100
#define CLASS_TIME_STEP 0.015
#elif defined(CLASS_W)
#define PROBLEM_SIZE 36
#define TIME_STEPS 400
#define CLASS_TIME_STEP 0.0015
#elif defined(CLASS_A)
#define PROBLEM_SIZE 64
#define TIME_STEPS 400
#define CLASS_TIME_STEP 0.0015
#elif defined(CLASS_B)
#define PROBLEM_SIZE 102
#define TIME_STEPS 400
#define CLASS_TIME_STEP 0.001
#else
#define PROBLEM_SIZE 162
#define TIME_STEPS 400
#define CLASS_TIME_STEP 0.00067
#endif

/* -DGRID_POINTS=40 -DGRID_STEPS=4 takes another grid, and as many steps: verification must fail. */
#ifdef GRID_POINTS
#undef PROBLEM_SIZE
#define PROBLEM_SIZE GRID_POINTS
#endif
#ifdef GRID_STEPS
#undef TIME_STEPS
#define TIME_STEPS GRID_STEPS
#endif

/* -DDT_SCALE=1.01 takes another time step than the class has: verification must then fail. */
#ifndef DT_SCALE
#define DT_SCALE 1.0
#endif
#define TIME_STEP (CLASS_TIME_STEP * (DT_SCALE))

/* Extent of the two inner dimensions: odd, so that planes of power-of-two grids do not all start
 * in the same cache sets. */
#define PADDED (PROBLEM_SIZE / 2 * 2 + 1)

#endif
