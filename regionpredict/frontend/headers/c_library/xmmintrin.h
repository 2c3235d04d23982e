/* The least of <xmmintrin.h>: SSE's types and functions, to read programs that use them. */
#ifndef REGIONPREDICT_XMMINTRIN_H
#define REGIONPREDICT_XMMINTRIN_H

#include <stddef.h>

#ifdef __PCPP__
typedef __regionpredict_m64 __m64;
typedef __regionpredict_m128 __m128;
#else
typedef long long __m64 __attribute__((__vector_size__(8)));
typedef float __m128 __attribute__((__vector_size__(16)));
#endif

#define _MM_SHUFFLE(d, c, b, a) (((d) << 6) | ((c) << 4) | ((b) << 2) | (a))
#define _mm_prefetch(address, hint) __builtin_prefetch((address), ((hint) & 4) >> 2, (hint) & 3)
#define _MM_HINT_T0 3
#define _MM_HINT_T1 2
#define _MM_HINT_T2 1
#define _MM_HINT_NTA 0
#define _MM_FLUSH_ZERO_ON 0x8000
#define _MM_SET_FLUSH_ZERO_MODE(mode) _mm_setcsr((_mm_getcsr() & ~0x8000u) | (mode))

#ifdef __cplusplus
extern "C" {
#endif
__m128 _mm_add_ps(__m128 a, __m128 b);
__m128 _mm_add_ss(__m128 a, __m128 b);
__m128 _mm_sub_ps(__m128 a, __m128 b);
__m128 _mm_sub_ss(__m128 a, __m128 b);
__m128 _mm_mul_ps(__m128 a, __m128 b);
__m128 _mm_mul_ss(__m128 a, __m128 b);
__m128 _mm_div_ps(__m128 a, __m128 b);
__m128 _mm_div_ss(__m128 a, __m128 b);
__m128 _mm_min_ps(__m128 a, __m128 b);
__m128 _mm_min_ss(__m128 a, __m128 b);
__m128 _mm_max_ps(__m128 a, __m128 b);
__m128 _mm_max_ss(__m128 a, __m128 b);
__m128 _mm_cmpeq_ps(__m128 a, __m128 b);
__m128 _mm_cmpeq_ss(__m128 a, __m128 b);
__m128 _mm_cmplt_ps(__m128 a, __m128 b);
__m128 _mm_cmplt_ss(__m128 a, __m128 b);
__m128 _mm_cmple_ps(__m128 a, __m128 b);
__m128 _mm_cmple_ss(__m128 a, __m128 b);
__m128 _mm_cmpgt_ps(__m128 a, __m128 b);
__m128 _mm_cmpgt_ss(__m128 a, __m128 b);
__m128 _mm_cmpge_ps(__m128 a, __m128 b);
__m128 _mm_cmpge_ss(__m128 a, __m128 b);
__m128 _mm_cmpneq_ps(__m128 a, __m128 b);
__m128 _mm_cmpneq_ss(__m128 a, __m128 b);
__m128 _mm_cmpord_ps(__m128 a, __m128 b);
__m128 _mm_cmpord_ss(__m128 a, __m128 b);
__m128 _mm_cmpunord_ps(__m128 a, __m128 b);
__m128 _mm_cmpunord_ss(__m128 a, __m128 b);
__m128 _mm_cmpnlt_ps(__m128 a, __m128 b);
__m128 _mm_cmpnlt_ss(__m128 a, __m128 b);
__m128 _mm_cmpnle_ps(__m128 a, __m128 b);
__m128 _mm_cmpnle_ss(__m128 a, __m128 b);
__m128 _mm_and_ps(__m128 a, __m128 b);
__m128 _mm_andnot_ps(__m128 a, __m128 b);
__m128 _mm_or_ps(__m128 a, __m128 b);
__m128 _mm_xor_ps(__m128 a, __m128 b);
__m128 _mm_unpackhi_ps(__m128 a, __m128 b);
__m128 _mm_unpacklo_ps(__m128 a, __m128 b);
__m128 _mm_movehl_ps(__m128 a, __m128 b);
__m128 _mm_movelh_ps(__m128 a, __m128 b);
__m128 _mm_move_ss(__m128 a, __m128 b);
__m128 _mm_sqrt_ps(__m128 a);
__m128 _mm_sqrt_ss(__m128 a);
__m128 _mm_rcp_ps(__m128 a);
__m128 _mm_rcp_ss(__m128 a);
__m128 _mm_rsqrt_ps(__m128 a);
__m128 _mm_rsqrt_ss(__m128 a);
__m128 _mm_set1_ps(float a);
__m128 _mm_set_ps1(float a);
__m128 _mm_set_ss(float a);
__m128 _mm_setzero_ps(void);
__m128 _mm_set_ps(float d, float c, float b, float a);
__m128 _mm_setr_ps(float a, float b, float c, float d);
__m128 _mm_shuffle_ps(__m128 a, __m128 b, unsigned int order);
__m128 _mm_cvtsi32_ss(__m128 a, int b);
__m128 _mm_load_ps(const float *from);
__m128 _mm_loadu_ps(const float *from);
__m128 _mm_loadr_ps(const float *from);
__m128 _mm_load_ss(const float *from);
__m128 _mm_load1_ps(const float *from);
__m128 _mm_load_ps1(const float *from);
void _mm_store_ps(float *to, __m128 a);
void _mm_storeu_ps(float *to, __m128 a);
void _mm_storer_ps(float *to, __m128 a);
void _mm_store_ss(float *to, __m128 a);
void _mm_store1_ps(float *to, __m128 a);
void _mm_stream_ps(float *to, __m128 a);
__m128 _mm_loadl_pi(__m128 a, const __m64 *from);
__m128 _mm_loadh_pi(__m128 a, const __m64 *from);
void _mm_storel_pi(__m64 *to, __m128 a);
void _mm_storeh_pi(__m64 *to, __m128 a);
float _mm_cvtss_f32(__m128 a);
int _mm_movemask_ps(__m128 a);
int _mm_cvtss_si32(__m128 a);
int _mm_cvttss_si32(__m128 a);

void _mm_sfence(void);
void _mm_pause(void);
unsigned int _mm_getcsr(void);
void _mm_setcsr(unsigned int value);
void *_mm_malloc(size_t bytes, size_t alignment);
void _mm_free(void *memory);
int _mm_comieq_ss(__m128 a, __m128 b);
int _mm_comilt_ss(__m128 a, __m128 b);
int _mm_comile_ss(__m128 a, __m128 b);
int _mm_comigt_ss(__m128 a, __m128 b);
int _mm_comige_ss(__m128 a, __m128 b);
int _mm_comineq_ss(__m128 a, __m128 b);
#ifdef __cplusplus
}
#endif

#include <emmintrin.h>

#endif
