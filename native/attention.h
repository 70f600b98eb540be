/* Gated attention of a batch of documents: each token's state d is multiplied by its query vector q̃ = Σ α_i q_i with
   α = softmax(d · q_i). All arrays are dense and row-major. Functions return 0 or an error code of gru.h. */
#ifndef GAREADER_ATTENTION_H
#define GAREADER_ATTENTION_H

#include <stdint.h>

#include "gru.h"

typedef struct {
    int64_t batch, tokens, asked, width; /* documents, tokens of a document, tokens of a query, floats in a state */
    int64_t out_row; /* floats from a token of gate_forward's `out` to the next, at least `width` */
    int64_t dropped; /* numbers dropped of 65,536, on average */
    int64_t threads;
    int64_t instruction_set; /* 0: the best of this machine, 1: the next */
    int64_t precision;       /* of products, 0: float32, 1: bf16 */
} gate_shape;

/* The number of floats of each document token in alpha: one for each query token, and zeros as padding. */
GRU_EXPORT int64_t gate_columns(int64_t asked);

/* document (batch, tokens, width), query (batch, asked, width), mask (batch, asked), draws: 16 random bits for each
   number of out, or NULL without dropout → alpha (batch, tokens, columns), out (batch, tokens, width) with rows `out_row` apart. */
GRU_EXPORT int gate_forward(const gate_shape *shape, const float *document, const float *query, const uint8_t *mask,
                            const int16_t *draws, float *alpha, float *out);

/* The gradients of document and query, given that of `out`; alpha is the output of gate_forward. */
GRU_EXPORT int gate_backward(const gate_shape *shape, const float *document, const float *query, const uint8_t *mask,
                             const int16_t *draws, const float *alpha, const float *d_out, float *d_document,
                             float *d_query);

#endif
