/* Problem sizes of the samples, chosen by the preprocessor alone.
 *
 * One of -DMINI_DATASET, -DSMALL_DATASET, -DSTANDARD_DATASET (the default),
 * -DLARGE_DATASET, -DEXTRALARGE_DATASET picks the column of a sample's sizes;
 * any one size is overridden by its own name, as in -DNI=300.  The figures are
 * those of PolyBench/C 3.2, so that results can be laid side by side.
 *
 * -DCACHE_BYTES=33554432 takes the place of a data set: the sizes then follow
 * from the largest cache of the machine, so that the working set is about ten
 * times that cache (Chatzopoulos 2012, sec. 6.2).  Everything is integer
 * arithmetic of the preprocessor, so a size is a constant that any reader of
 * the source can fold.
 *
 * A sample says before the inclusion how its working set grows:
 *   WORKING_SET_ARRAYS   how many arrays of the largest rank it touches
 *   WORKING_SET_RANK     1, 2 or 3: that rank
 *   WORKING_SET_ELEMENT  bytes of an element (8 unless said otherwise)
 */
#ifndef SAMPLES_DATASET_H
#define SAMPLES_DATASET_H

#ifndef WORKING_SET_ELEMENT
#define WORKING_SET_ELEMENT 8
#endif

/* DATASET_FIXED is for what does not change the working set: time steps,
 * repetitions.  Under CACHE_BYTES it has the value of the standard set. */
#if defined(MINI_DATASET)
#define DATASET_FIXED(mini, small, standard, large, extralarge) mini
#elif defined(SMALL_DATASET)
#define DATASET_FIXED(mini, small, standard, large, extralarge) small
#elif defined(LARGE_DATASET)
#define DATASET_FIXED(mini, small, standard, large, extralarge) large
#elif defined(EXTRALARGE_DATASET)
#define DATASET_FIXED(mini, small, standard, large, extralarge) extralarge
#else
#define DATASET_FIXED(mini, small, standard, large, extralarge) standard
#endif

#ifndef CACHE_BYTES
#define DATASET_SIZE(mini, small, standard, large, extralarge) \
    DATASET_FIXED(mini, small, standard, large, extralarge)
#else
#define DATASET_SIZE(mini, small, standard, large, extralarge) CACHE_SIDE

/* CACHE_SIDE is the largest s with s^rank <= CACHE_CELLS, found bit by bit. */
#define CACHE_CELLS ((CACHE_BYTES) / ((WORKING_SET_ARRAYS) * (WORKING_SET_ELEMENT)) * 10)
#if WORKING_SET_RANK == 1
#define CACHE_SIDE CACHE_CELLS
#elif WORKING_SET_RANK == 2
#define CACHE_FITS(s) ((s) * (s) <= CACHE_CELLS)
#else
#define CACHE_FITS(s) ((s) * (s) * (s) <= CACHE_CELLS)
#endif
#if WORKING_SET_RANK != 1
#if CACHE_FITS(131072)
#define CACHE_SIDE_17 131072
#else
#define CACHE_SIDE_17 0
#endif
#if CACHE_FITS(CACHE_SIDE_17 + 65536)
#define CACHE_SIDE_16 (CACHE_SIDE_17 + 65536)
#else
#define CACHE_SIDE_16 CACHE_SIDE_17
#endif
#if CACHE_FITS(CACHE_SIDE_16 + 32768)
#define CACHE_SIDE_15 (CACHE_SIDE_16 + 32768)
#else
#define CACHE_SIDE_15 CACHE_SIDE_16
#endif
#if CACHE_FITS(CACHE_SIDE_15 + 16384)
#define CACHE_SIDE_14 (CACHE_SIDE_15 + 16384)
#else
#define CACHE_SIDE_14 CACHE_SIDE_15
#endif
#if CACHE_FITS(CACHE_SIDE_14 + 8192)
#define CACHE_SIDE_13 (CACHE_SIDE_14 + 8192)
#else
#define CACHE_SIDE_13 CACHE_SIDE_14
#endif
#if CACHE_FITS(CACHE_SIDE_13 + 4096)
#define CACHE_SIDE_12 (CACHE_SIDE_13 + 4096)
#else
#define CACHE_SIDE_12 CACHE_SIDE_13
#endif
#if CACHE_FITS(CACHE_SIDE_12 + 2048)
#define CACHE_SIDE_11 (CACHE_SIDE_12 + 2048)
#else
#define CACHE_SIDE_11 CACHE_SIDE_12
#endif
#if CACHE_FITS(CACHE_SIDE_11 + 1024)
#define CACHE_SIDE_10 (CACHE_SIDE_11 + 1024)
#else
#define CACHE_SIDE_10 CACHE_SIDE_11
#endif
#if CACHE_FITS(CACHE_SIDE_10 + 512)
#define CACHE_SIDE_9 (CACHE_SIDE_10 + 512)
#else
#define CACHE_SIDE_9 CACHE_SIDE_10
#endif
#if CACHE_FITS(CACHE_SIDE_9 + 256)
#define CACHE_SIDE_8 (CACHE_SIDE_9 + 256)
#else
#define CACHE_SIDE_8 CACHE_SIDE_9
#endif
#if CACHE_FITS(CACHE_SIDE_8 + 128)
#define CACHE_SIDE_7 (CACHE_SIDE_8 + 128)
#else
#define CACHE_SIDE_7 CACHE_SIDE_8
#endif
#if CACHE_FITS(CACHE_SIDE_7 + 64)
#define CACHE_SIDE_6 (CACHE_SIDE_7 + 64)
#else
#define CACHE_SIDE_6 CACHE_SIDE_7
#endif
#if CACHE_FITS(CACHE_SIDE_6 + 32)
#define CACHE_SIDE_5 (CACHE_SIDE_6 + 32)
#else
#define CACHE_SIDE_5 CACHE_SIDE_6
#endif
#if CACHE_FITS(CACHE_SIDE_5 + 16)
#define CACHE_SIDE_4 (CACHE_SIDE_5 + 16)
#else
#define CACHE_SIDE_4 CACHE_SIDE_5
#endif
#if CACHE_FITS(CACHE_SIDE_4 + 8)
#define CACHE_SIDE_3 (CACHE_SIDE_4 + 8)
#else
#define CACHE_SIDE_3 CACHE_SIDE_4
#endif
#if CACHE_FITS(CACHE_SIDE_3 + 4)
#define CACHE_SIDE_2 (CACHE_SIDE_3 + 4)
#else
#define CACHE_SIDE_2 CACHE_SIDE_3
#endif
#if CACHE_FITS(CACHE_SIDE_2 + 2)
#define CACHE_SIDE_1 (CACHE_SIDE_2 + 2)
#else
#define CACHE_SIDE_1 CACHE_SIDE_2
#endif
#if CACHE_FITS(CACHE_SIDE_1 + 1)
#define CACHE_SIDE (CACHE_SIDE_1 + 1)
#else
#define CACHE_SIDE CACHE_SIDE_1
#endif
#endif
#endif /* CACHE_BYTES */

#endif
