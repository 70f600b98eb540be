/* A bidirectional GRU over a batch of sequences. All arrays are of floats, dense and row-major; both directions'
   weights are stacked, gates in the order r, z, h̃. Functions return 0 or one of the errors below. */
#ifndef GAREADER_GRU_H
#define GAREADER_GRU_H

#include <stdint.h>

#if defined(__GNUC__)
#define GRU_EXPORT __attribute__((visibility("default")))
#else
#define GRU_EXPORT
#endif

enum { GRU_NO_MEMORY = 1, GRU_NO_SUCH_SET = 2, GRU_NO_SUCH_ROW = 3 };

typedef struct {
    int64_t cell; /* 0: the paper's, 1: cuDNN's */
    int64_t batch, steps, inputs, hidden;
    int64_t rows; /* of x: batch × steps, or with `words` the number of distinct words */
    int64_t threads;
    int64_t instruction_set; /* 0: the best of this machine, 1: the next */
    int64_t precision;       /* of products, 0: float32, 1: bf16; all else is float32 */
} gru_shape;

/* The version of this interface; it is raised whenever a function or structure changes. */
enum { GRU_INTERFACE = 4 };
GRU_EXPORT int64_t gru_interface(void);

/* The name of the best instruction set of this machine (0), of the next one (1) …, and then NULL. One with products of
   bf16 pairs ends with "bf16"; the others do the same products in float32. */
GRU_EXPORT const char *gru_instruction_set(int64_t choice);

/* Tasks of multiplications and additions whose operands stay in registers: what no product can exceed. Returns the
   number of operations, of a pair of bf16 numbers twice as many; −1 without that instruction set or precision. */
GRU_EXPORT int64_t gru_peak(int64_t instruction_set, int64_t precision, int64_t tasks, int64_t threads);

/* Tell the C library to keep freed memory in this process, so that the system clears large arrays only once. */
GRU_EXPORT void gru_keep_memory(void);

/* The number of floats in `gates`. */
GRU_EXPORT int64_t gru_gates_size(const gru_shape *shape);

/* x (rows, inputs), words (batch, steps) or NULL, mask (batch, steps), w (2, inputs, 3 hidden), u (2, hidden, 3 hidden),
   bias (2, 3 hidden) → out (batch, steps, 2 hidden). `words` has the row of x for each token.
   `gates` is kept for the backward pass, or NULL without one. */
GRU_EXPORT int gru_forward(const gru_shape *shape, const float *x, const int64_t *words, const uint8_t *mask,
                           const float *w, const float *u, const float *bias, float *out, float *gates);

/* Weights for gru_read: w, u and bias as in gru_forward → packed, gru_packed_size floats. */
GRU_EXPORT int64_t gru_packed_size(const gru_shape *shape);
GRU_EXPORT int gru_pack(const gru_shape *shape, const float *w, const float *u, const float *bias, float *packed);

/* One of the Bi-GRUs of gru_read: the arguments of gru_forward with packed weights, and without a backward pass. */
typedef struct {
    gru_shape shape;
    const float *x;
    const int64_t *words;
    const uint8_t *mask;
    const float *packed;
    float *out;
} gru_reading;

/* The states of several Bi-GRUs that do not wait for each other, side by side on the threads of the first. */
GRU_EXPORT int gru_read(const gru_reading *readings, int64_t count);

/* The gradients of x, w, u and bias, given that of `out`; d_x may be NULL. `gates` is used up. */
GRU_EXPORT int gru_backward(const gru_shape *shape, const float *x, const int64_t *words, const uint8_t *mask,
                            const float *w, const float *u, const float *out, float *gates, const float *d_out,
                            float *d_x, float *d_w, float *d_u, float *d_bias);

#endif
