/* The least of <emmintrin.h>: SSE2's types and functions, to read programs that use them. */
#ifndef REGIONPREDICT_EMMINTRIN_H
#define REGIONPREDICT_EMMINTRIN_H

#include <xmmintrin.h>

#ifdef __PCPP__
typedef __regionpredict_m128d __m128d;
typedef __regionpredict_m128i __m128i;
#else
typedef double __m128d __attribute__((__vector_size__(16)));
typedef long long __m128i __attribute__((__vector_size__(16)));
#endif

#define _MM_SHUFFLE2(b, a) (((b) << 1) | (a))

#ifdef __cplusplus
extern "C" {
#endif
__m128d _mm_add_pd(__m128d a, __m128d b);
__m128d _mm_add_sd(__m128d a, __m128d b);
__m128d _mm_sub_pd(__m128d a, __m128d b);
__m128d _mm_sub_sd(__m128d a, __m128d b);
__m128d _mm_mul_pd(__m128d a, __m128d b);
__m128d _mm_mul_sd(__m128d a, __m128d b);
__m128d _mm_div_pd(__m128d a, __m128d b);
__m128d _mm_div_sd(__m128d a, __m128d b);
__m128d _mm_min_pd(__m128d a, __m128d b);
__m128d _mm_min_sd(__m128d a, __m128d b);
__m128d _mm_max_pd(__m128d a, __m128d b);
__m128d _mm_max_sd(__m128d a, __m128d b);
__m128d _mm_cmpeq_pd(__m128d a, __m128d b);
__m128d _mm_cmpeq_sd(__m128d a, __m128d b);
__m128d _mm_cmplt_pd(__m128d a, __m128d b);
__m128d _mm_cmplt_sd(__m128d a, __m128d b);
__m128d _mm_cmple_pd(__m128d a, __m128d b);
__m128d _mm_cmple_sd(__m128d a, __m128d b);
__m128d _mm_cmpgt_pd(__m128d a, __m128d b);
__m128d _mm_cmpgt_sd(__m128d a, __m128d b);
__m128d _mm_cmpge_pd(__m128d a, __m128d b);
__m128d _mm_cmpge_sd(__m128d a, __m128d b);
__m128d _mm_cmpneq_pd(__m128d a, __m128d b);
__m128d _mm_cmpneq_sd(__m128d a, __m128d b);
__m128d _mm_cmpord_pd(__m128d a, __m128d b);
__m128d _mm_cmpord_sd(__m128d a, __m128d b);
__m128d _mm_cmpunord_pd(__m128d a, __m128d b);
__m128d _mm_cmpunord_sd(__m128d a, __m128d b);
__m128d _mm_cmpnlt_pd(__m128d a, __m128d b);
__m128d _mm_cmpnlt_sd(__m128d a, __m128d b);
__m128d _mm_cmpnle_pd(__m128d a, __m128d b);
__m128d _mm_cmpnle_sd(__m128d a, __m128d b);
__m128d _mm_and_pd(__m128d a, __m128d b);
__m128d _mm_andnot_pd(__m128d a, __m128d b);
__m128d _mm_or_pd(__m128d a, __m128d b);
__m128d _mm_xor_pd(__m128d a, __m128d b);
__m128d _mm_unpackhi_pd(__m128d a, __m128d b);
__m128d _mm_unpacklo_pd(__m128d a, __m128d b);
__m128d _mm_move_sd(__m128d a, __m128d b);
__m128d _mm_sqrt_pd(__m128d a);
__m128d _mm_sqrt_sd(__m128d a, __m128d b);
__m128d _mm_set1_pd(double a);
__m128d _mm_set_sd(double a);
__m128d _mm_set_pd(double b, double a);
__m128d _mm_setr_pd(double a, double b);
__m128d _mm_setzero_pd(void);
__m128d _mm_shuffle_pd(__m128d a, __m128d b, int order);
__m128d _mm_load_pd(const double *from);
__m128d _mm_loadu_pd(const double *from);
__m128d _mm_load1_pd(const double *from);
__m128d _mm_load_pd1(const double *from);
__m128d _mm_load_sd(const double *from);
__m128d _mm_loadr_pd(const double *from);
__m128d _mm_loadl_pd(__m128d a, const double *from);
__m128d _mm_loadh_pd(__m128d a, const double *from);
void _mm_store_pd(double *to, __m128d a);
void _mm_storeu_pd(double *to, __m128d a);
void _mm_store_sd(double *to, __m128d a);
void _mm_storel_pd(double *to, __m128d a);
void _mm_storeh_pd(double *to, __m128d a);
void _mm_stream_pd(double *to, __m128d a);
void _mm_store1_pd(double *to, __m128d a);
double _mm_cvtsd_f64(__m128d a);
int _mm_movemask_pd(__m128d a);
int _mm_cvtsd_si32(__m128d a);
int _mm_cvttsd_si32(__m128d a);
__m128d _mm_cvtps_pd(__m128 a);
__m128 _mm_cvtpd_ps(__m128d a);
__m128d _mm_cvtepi32_pd(__m128i a);
__m128 _mm_cvtepi32_ps(__m128i a);
__m128i _mm_cvtps_epi32(__m128 a);
__m128i _mm_cvttps_epi32(__m128 a);
__m128i _mm_cvtpd_epi32(__m128d a);
__m128i _mm_cvttpd_epi32(__m128d a);
__m128d _mm_cvtsi32_sd(__m128d a, int b);
__m128 _mm_castpd_ps(__m128d a);
__m128i _mm_castpd_si128(__m128d a);
__m128d _mm_castps_pd(__m128 a);
__m128i _mm_castps_si128(__m128 a);
__m128 _mm_castsi128_ps(__m128i a);
__m128d _mm_castsi128_pd(__m128i a);
__m128i _mm_add_epi8(__m128i a, __m128i b);
__m128i _mm_add_epi16(__m128i a, __m128i b);
__m128i _mm_add_epi32(__m128i a, __m128i b);
__m128i _mm_add_epi64(__m128i a, __m128i b);
__m128i _mm_sub_epi8(__m128i a, __m128i b);
__m128i _mm_sub_epi16(__m128i a, __m128i b);
__m128i _mm_sub_epi32(__m128i a, __m128i b);
__m128i _mm_sub_epi64(__m128i a, __m128i b);
__m128i _mm_cmpeq_epi8(__m128i a, __m128i b);
__m128i _mm_cmpeq_epi16(__m128i a, __m128i b);
__m128i _mm_cmpeq_epi32(__m128i a, __m128i b);
__m128i _mm_cmpgt_epi8(__m128i a, __m128i b);
__m128i _mm_cmpgt_epi16(__m128i a, __m128i b);
__m128i _mm_cmpgt_epi32(__m128i a, __m128i b);
__m128i _mm_cmplt_epi8(__m128i a, __m128i b);
__m128i _mm_cmplt_epi16(__m128i a, __m128i b);
__m128i _mm_cmplt_epi32(__m128i a, __m128i b);
__m128i _mm_unpackhi_epi8(__m128i a, __m128i b);
__m128i _mm_unpackhi_epi16(__m128i a, __m128i b);
__m128i _mm_unpackhi_epi32(__m128i a, __m128i b);
__m128i _mm_unpackhi_epi64(__m128i a, __m128i b);
__m128i _mm_unpacklo_epi8(__m128i a, __m128i b);
__m128i _mm_unpacklo_epi16(__m128i a, __m128i b);
__m128i _mm_unpacklo_epi32(__m128i a, __m128i b);
__m128i _mm_unpacklo_epi64(__m128i a, __m128i b);
__m128i _mm_and_si128(__m128i a, __m128i b);
__m128i _mm_andnot_si128(__m128i a, __m128i b);
__m128i _mm_or_si128(__m128i a, __m128i b);
__m128i _mm_xor_si128(__m128i a, __m128i b);
__m128i _mm_mullo_epi16(__m128i a, __m128i b);
__m128i _mm_mulhi_epi16(__m128i a, __m128i b);
__m128i _mm_mul_epu32(__m128i a, __m128i b);
__m128i _mm_madd_epi16(__m128i a, __m128i b);
__m128i _mm_max_epi16(__m128i a, __m128i b);
__m128i _mm_min_epi16(__m128i a, __m128i b);
__m128i _mm_max_epu8(__m128i a, __m128i b);
__m128i _mm_min_epu8(__m128i a, __m128i b);
__m128i _mm_adds_epi16(__m128i a, __m128i b);
__m128i _mm_adds_epu8(__m128i a, __m128i b);
__m128i _mm_adds_epu16(__m128i a, __m128i b);
__m128i _mm_subs_epi16(__m128i a, __m128i b);
__m128i _mm_subs_epu8(__m128i a, __m128i b);
__m128i _mm_avg_epu8(__m128i a, __m128i b);
__m128i _mm_avg_epu16(__m128i a, __m128i b);
__m128i _mm_sad_epu8(__m128i a, __m128i b);
__m128i _mm_packs_epi16(__m128i a, __m128i b);
__m128i _mm_packs_epi32(__m128i a, __m128i b);
__m128i _mm_packus_epi16(__m128i a, __m128i b);
__m128i _mm_sll_epi32(__m128i a, __m128i b);
__m128i _mm_srl_epi32(__m128i a, __m128i b);
__m128i _mm_sra_epi32(__m128i a, __m128i b);
__m128i _mm_slli_epi16(__m128i a, int count);
__m128i _mm_slli_epi32(__m128i a, int count);
__m128i _mm_slli_epi64(__m128i a, int count);
__m128i _mm_srli_epi16(__m128i a, int count);
__m128i _mm_srli_epi32(__m128i a, int count);
__m128i _mm_srli_epi64(__m128i a, int count);
__m128i _mm_srai_epi16(__m128i a, int count);
__m128i _mm_srai_epi32(__m128i a, int count);
__m128i _mm_slli_si128(__m128i a, int count);
__m128i _mm_srli_si128(__m128i a, int count);
__m128i _mm_shuffle_epi32(__m128i a, int count);
__m128i _mm_shufflehi_epi16(__m128i a, int count);
__m128i _mm_shufflelo_epi16(__m128i a, int count);
__m128i _mm_setzero_si128(void);
__m128i _mm_set1_epi8(char a);
__m128i _mm_set1_epi16(short a);
__m128i _mm_set1_epi32(int a);
__m128i _mm_set1_epi64x(long long a);
__m128i _mm_set_epi32(int d, int c, int b, int a);
__m128i _mm_setr_epi32(int a, int b, int c, int d);
__m128i _mm_set_epi64x(long long b, long long a);
__m128i _mm_set_epi16(short h, short g, short f, short e, short d, short c, short b, short a);
__m128i _mm_setr_epi16(short a, short b, short c, short d, short e, short f, short g, short h);
__m128i _mm_load_si128(const __m128i *from);
__m128i _mm_loadu_si128(const __m128i *from);
__m128i _mm_loadl_epi64(const __m128i *from);
void _mm_store_si128(__m128i *to, __m128i a);
void _mm_storeu_si128(__m128i *to, __m128i a);
void _mm_storel_epi64(__m128i *to, __m128i a);
void _mm_stream_si128(__m128i *to, __m128i a);
int _mm_cvtsi128_si32(__m128i a);
__m128i _mm_cvtsi32_si128(int a);
long long _mm_cvtsi128_si64(__m128i a);
__m128i _mm_cvtsi64_si128(long long a);
int _mm_extract_epi16(__m128i a, int which);
__m128i _mm_insert_epi16(__m128i a, int value, int which);
int _mm_movemask_epi8(__m128i a);
void _mm_mfence(void);
void _mm_lfence(void);
void _mm_clflush(const void *address);
#ifdef __cplusplus
}
#endif

#endif
