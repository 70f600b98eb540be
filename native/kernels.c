/* The kernels compiled for several instruction sets, and the choice of one at run time. */
#include "kernels.h"

#include <stddef.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "gru.h"

#define NAME(x) x##_plain
#define VECTOR 4
#define TILE_ROWS 6
#include "simd.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define X86
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define NAME(x) x##_avx2
#define VECTOR 8
#define TILE_ROWS 6
#include "simd.h"
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,prefer-vector-width=512")
#define NAME(x) x##_avx512
#define VECTOR 16
#define TILE_ROWS 8
#include "simd.h"
#pragma GCC pop_options
#elif defined(__x86_64__) && defined(__clang__)
#define X86
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#define NAME(x) x##_avx2
#define VECTOR 8
#define TILE_ROWS 6
#include "simd.h"
#pragma clang attribute pop

#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma"))), apply_to = function)
#define NAME(x) x##_avx512
#define VECTOR 16
#define TILE_ROWS 8
#include "simd.h"
#pragma clang attribute pop
#endif

static const struct {
    const char *name;
    const kernels_t *kernels;
} SETS[] = {
#ifdef X86
    {"avx512", &kernels_avx512},
    {"avx2", &kernels_avx2},
#endif
#ifdef __ARM_NEON
    {"neon", &kernels_plain}, /* a NEON register has four floats, so the plain kernels are NEON code there */
#endif
    {"plain", &kernels_plain},
};

static int runs_here(n_t set) {
#ifdef X86
    if (set == 0) {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    }
    if (set == 1) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    (void)set;
    return 1;
}

const char *gru_instruction_set(int64_t choice) {
    for (n_t set = 0; set < (n_t)(sizeof SETS / sizeof *SETS); set++) {
        if (runs_here(set) && choice-- == 0) return SETS[set].name;
    }
    return NULL;
}

const kernels_t *kernels_of(n_t choice) {
    for (n_t set = 0; set < (n_t)(sizeof SETS / sizeof *SETS); set++) {
        if (runs_here(set) && choice-- == 0) return SETS[set].kernels;
    }
    return NULL;
}

int64_t gru_interface(void) { return GRU_INTERFACE; }

void gru_keep_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, 0x7fffffff);
#endif
}
