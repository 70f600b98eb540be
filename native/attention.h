/* Gated attention of a batch of documents: each token's state d is multiplied with its own view of the query,
   q̃ = Σ α_i q_i with α = softmax(d · q_i). All arrays are dense and row-major. Functions return 0 or an error of gru.h. */
#ifndef GAREADER_ATTENTION_H
#define GAREADER_ATTENTION_H

#include <stdint.h>

#include "gru.h"

typedef struct {
    int64_t batch, tokens, asked, width; /* documents, their tokens, their queries' tokens, floats in a state */
    int64_t dropped;                     /* of 65,536 numbers, on average */
    int64_t threads;
    int64_t instruction_set; /* 0: the best of this machine, 1: the next */
} gate_shape;

/* How many floats there are for each document token in alpha: one for each query token, and some zeros. */
GRU_EXPORT int64_t gate_columns(int64_t asked);

/* document (batch, tokens, width), query (batch, asked, width), mask (batch, asked), and draws, 16 random bits for each
   number of out, or NULL where none is dropped → alpha (batch, tokens, columns), out (batch, tokens, width). */
GRU_EXPORT int gate_forward(const gate_shape *shape, const float *document, const float *query, const uint8_t *mask,
                            const int16_t *draws, float *alpha, float *out);

/* The gradients of document and query, given that of `out`; the other arguments as gate_forward had and left them. */
GRU_EXPORT int gate_backward(const gate_shape *shape, const float *document, const float *query, const uint8_t *mask,
                             const int16_t *draws, const float *alpha, const float *d_out, float *d_document,
                             float *d_query);

#endif
