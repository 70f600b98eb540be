/* The kernels compiled for several instruction sets, and the choice of one at run time. */
#include "kernels.h"

#include <stddef.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "gru.h"

/* ---- the kernels of each instruction set, in float32 and in bf16 ---- */

#define NAME(x) x##_plain
#define VECTOR 4
#define TILE_ROWS 6
#include "simd.h"

#define NAME(x) x##_plain_pairs
#define VECTOR 4
#define TILE_ROWS 6
#define BF16
#include "simd.h"

#define PRAGMA(x) _Pragma(#x)
#ifdef __clang__
#define BEGIN_SET(names) PRAGMA(clang attribute push(__attribute__((target(names))), apply_to = function))
#define END_SET PRAGMA(clang attribute pop)
#define WIDE_VECTORS ""
#else
#define BEGIN_SET(names) PRAGMA(GCC push_options) PRAGMA(GCC target(names))
#define END_SET PRAGMA(GCC pop_options)
#define WIDE_VECTORS ",prefer-vector-width=512"
#endif

#if defined(__x86_64__) && defined(__GNUC__)
#define X86
#include <immintrin.h>

BEGIN_SET("avx2,fma")
#define NAME(x) x##_avx2
#define VECTOR 8
#define TILE_ROWS 6
#define LARGER(a, b) ((V)_mm256_max_ps((__m256)(a), (__m256)(b)))
#define SMALLER(a, b) ((V)_mm256_min_ps((__m256)(a), (__m256)(b)))
#include "simd.h"

#define NAME(x) x##_avx2_pairs
#define VECTOR 8
#define TILE_ROWS 6
#define LARGER(a, b) ((V)_mm256_max_ps((__m256)(a), (__m256)(b)))
#define SMALLER(a, b) ((V)_mm256_min_ps((__m256)(a), (__m256)(b)))
#define BF16
#include "simd.h"
END_SET

BEGIN_SET("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma" WIDE_VECTORS)
#define NAME(x) x##_avx512
#define VECTOR 16
#define TILE_ROWS 8
#define LARGER(a, b) ((V)_mm512_max_ps((__m512)(a), (__m512)(b)))
#define SMALLER(a, b) ((V)_mm512_min_ps((__m512)(a), (__m512)(b)))
#include "simd.h"

#define NAME(x) x##_avx512_pairs
#define VECTOR 16
#define TILE_ROWS 8
#define LARGER(a, b) ((V)_mm512_max_ps((__m512)(a), (__m512)(b)))
#define SMALLER(a, b) ((V)_mm512_min_ps((__m512)(a), (__m512)(b)))
#define BF16
#include "simd.h"
END_SET

#if __has_include(<avx512bf16intrin.h>)
#define AVX512_BF16
BEGIN_SET("avx512bf16,avx512f,avx512vl,avx512bw,avx512dq,avx2,fma" WIDE_VECTORS)
#define NAME(x) x##_avx512_bf16
#define VECTOR 16
#define TILE_ROWS 8
#define LARGER(a, b) ((V)_mm512_max_ps((__m512)(a), (__m512)(b)))
#define SMALLER(a, b) ((V)_mm512_min_ps((__m512)(a), (__m512)(b)))
#define BF16
#define DOT(sum, a, b) ((V)_mm512_dpbf16_ps((__m512)(sum), (__m512bh)(a), (__m512bh)(b)))
#define ROUND(x) ((NAME(vh))_mm512_cvtneps_pbh((__m512)(x)))
#define WIDEN(x) ((NAME(vu))_mm512_cvtepu16_epi32((__m256i)(x)))
#include "simd.h"
END_SET
#endif
#endif

#if defined(__aarch64__) && defined(__linux__) && __GNUC__ >= 10 && !defined(__clang__)
#define NEON_BF16
#include <arm_neon.h>
#include <sys/auxv.h>
BEGIN_SET("arch=armv8.2-a+bf16")
#define NAME(x) x##_neon_bf16
#define VECTOR 4
#define TILE_ROWS 6
#define BF16
#define DOT(sum, a, b) ((V)vbfdotq_f32((float32x4_t)(sum), (bfloat16x8_t)(a), (bfloat16x8_t)(b)))
#include "simd.h"
END_SET
#endif

/* ---- the choice of one ---- */

static int always(void) { return 1; }

#ifdef X86
static int has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

static int has_avx512(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}
#endif
#ifdef AVX512_BF16
static int has_avx512_bf16(void) { return has_avx512() && __builtin_cpu_supports("avx512bf16"); }
#endif
#ifdef NEON_BF16
static int has_neon_bf16(void) { return (getauxval(AT_HWCAP2) & 1 << 14) != 0; } /* HWCAP2_BF16 */
#endif

static const struct {
    const char *name;
    int (*runs_here)(void);
    const kernels_t *kernels[2]; /* in float32 and in bf16 */
} SETS[] = {
#ifdef AVX512_BF16
    {"avx512_bf16", has_avx512_bf16, {&kernels_avx512, &kernels_avx512_bf16}},
#endif
#ifdef X86
    {"avx512", has_avx512, {&kernels_avx512, &kernels_avx512_pairs}},
    {"avx2", has_avx2, {&kernels_avx2, &kernels_avx2_pairs}},
#endif
#ifdef NEON_BF16
    {"neon_bf16", has_neon_bf16, {&kernels_plain, &kernels_neon_bf16}},
#endif
#ifdef __ARM_NEON
    {"neon", always, {&kernels_plain, &kernels_plain_pairs}}, /* a NEON register has four floats: the plain kernels */
#endif
    {"plain", always, {&kernels_plain, &kernels_plain_pairs}},
};

/* The number of the set in SETS, or −1. */
static n_t set_of(n_t choice) {
    for (n_t set = 0; set < (n_t)(sizeof SETS / sizeof *SETS); set++) {
        if (SETS[set].runs_here() && choice-- == 0) return set;
    }
    return -1;
}

const char *gru_instruction_set(int64_t choice) {
    const n_t set = set_of(choice);
    return set < 0 ? NULL : SETS[set].name;
}

const kernels_t *kernels_of(n_t choice, n_t precision) {
    const n_t set = set_of(choice);
    return set < 0 || (precision != FLOAT32 && precision != BFLOAT16) ? NULL : SETS[set].kernels[precision];
}

int64_t gru_interface(void) { return GRU_INTERFACE; }

void gru_keep_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, 0x7fffffff);
#endif
}
