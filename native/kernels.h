/* The arguments and the table of the kernels that gru.c and attention.c call; simd.h defines the kernels, once for each
   instruction set. */
#ifndef GAREADER_KERNELS_H
#define GAREADER_KERNELS_H

#include <stdint.h>

typedef int64_t n_t;

enum { PAPER = 0, CUDNN = 1 };
enum { FLOAT32 = 0, BFLOAT16 = 1 };

enum {
    LANES = 32,        /* gates and states are padded to a multiple of this many floats, so that all panels are whole */
    APART = 48,         /* distance in floats that keeps rows which are used together out of the same cache sets */
    BLOCK_TOKENS = 256, /* tokens per block of a task, so that its intermediate results stay in the cache */
    BLOCK_DEPTH = 320, /* longest sum of a tile between two stores */
    BLOCK_WEIGHTS = 128, /* rows of a weight gradient per block */
    GATED_TOKENS = 64,   /* document tokens per block of the attention */
    PEAK_NUMBERS = 64
};

/* The arguments of a Bi-GRU: a batch of sequences, its outputs, gradients and packed weights. */
typedef struct {
    n_t cell, batch, steps, inputs, hidden;
    n_t width; /* hidden, rounded up to LANES */
    n_t slots; /* per token and direction: r, z, h̃, and for CUDNN also h U_h, each `width` floats */

    const float *x;       /* (rows, inputs): of each token, or of each distinct word */
    n_t rows;
    const int64_t *words; /* (batch, steps): the row of x of each token; null if x has a row for each token */
    float *table;         /* with words (2, rows, 3 width): W x + b of each row */
    const uint8_t *mask;  /* (batch, steps): 0 where there is no token */
    float *out;          /* (batch, steps, 2 hidden): the states, zero where there is no token */
    float *gates;        /* (2, batch, steps, slots, width): W x + b, then the gates, then their gradients; or null */

    const float *d_out;          /* (batch, steps, 2 hidden) */
    const float *d_table;        /* (2, rows, 3 width): the gradient of W x + b, rows `d_table_row` floats apart */
    n_t d_table_row;
    float *d_x;                  /* (rows, inputs) */

    /* Packed weights: panels of PANEL columns, each row by row. Forward [W_r W_z W_h] and [U_r U_z U_h] of each
       direction, backward their transposes; columns and rows between `hidden` and `width` are zero. In bf16 W and U are
       packed as pairs, each in the place of a float. */
    float *packed_w, *packed_u, *packed_bias;
} gru_t;

/* The arguments of gated attention: α = softmax(D Qᵀ), X = D ⊙ (α Q) with dropout. */
typedef struct {
    n_t tokens, asked, width; /* tokens of a document, tokens of a query, floats in a state */
    n_t columns;              /* asked, rounded up to LANES */

    const float *document; /* (batch, tokens, width) */
    const float *query;    /* (batch, asked, width) */
    const uint8_t *mask;   /* (batch, asked): 0 where there is no token */
    const int16_t *draws;  /* (batch, tokens, width): a number is dropped where this is below `threshold`; or null */
    int16_t threshold;
    float scale;  /* factor of the numbers that are not dropped */
    float *alpha; /* (batch, tokens, columns) */
    float *out;   /* (batch, tokens, width), tokens out_row floats apart */
    n_t out_row;

    const float *d_out; /* (batch, tokens, width) */
    float *d_document;  /* (batch, tokens, width) */
    float *d_query;     /* (batch, asked, width) */
} gated_t;

typedef struct {
    n_t tile_rows, panel; /* rows and columns of a tile of a product */
    n_t together;         /* numbers in an operand of a product: 1, or 2 in bf16 */

    void (*pack)(float *packed, const float *weights, n_t depth, n_t hidden, n_t width, n_t panel);
    void (*pack_transposed)(float *packed, const float *weights, n_t columns, n_t hidden, n_t width, n_t panel);

    /* W x + b of rows first … end − 1 of x, at most BLOCK_TOKENS, in one direction. */
    void (*fill_table)(const gru_t *, n_t direction, n_t first, n_t end, float *scratch);
    /* The states of rows first … end − 1 of the batch, at most tile_rows of them, in one direction. */
    void (*forward)(const gru_t *, n_t direction, n_t first, n_t end, float *scratch);
    /* Overwrite the gates of these rows with their gradients, and add to the weight gradients, (inputs + hidden + 1,
       3 width): to those of U, and without words to those of W and b. */
    void (*backward)(const gru_t *, n_t direction, n_t first, n_t end, float *d_weights, float *scratch);
    /* Add the part of rows first … end − 1 of x, at most BLOCK_TOKENS, to the gradients of W and b. */
    void (*table_weights)(const gru_t *, n_t direction, n_t first, n_t end, float *d_weights, float *scratch);
    /* d_x of rows first … end − 1, at most BLOCK_TOKENS. */
    void (*input_gradient)(const gru_t *, n_t first, n_t end, float *scratch);

    /* α and X of tokens first … end − 1 of one document of the batch. */
    void (*gate)(const gated_t *, n_t document, n_t first, n_t end, float *scratch);
    /* The gradients of one document and its query. */
    void (*gate_gradient)(const gated_t *, n_t document, float *scratch);

    /* Rounds of multiplications and additions in registers only, on PEAK_NUMBERS numbers → operations. */
    n_t (*peak)(float *numbers, n_t rounds);
} kernels_t;

/* The kernels of the best instruction set of this machine (0), of the next one (1) …, and then null. */
const kernels_t *kernels_of(n_t choice, n_t precision);

static inline n_t blocks(n_t count, n_t size) { return (count + size - 1) / size; }
static inline n_t round_up(n_t n, n_t to) { return (n + to - 1) / to * to; }
static inline n_t least(n_t a, n_t b) { return a < b ? a : b; }
static inline n_t most(n_t a, n_t b) { return a > b ? a : b; }

/* The last term of each is for left sides of products as bf16 pairs, if they are not used as they are. */
static inline n_t forward_scratch(const gru_t *g, const kernels_t *k) {
    return 5 * k->tile_rows * g->width + BLOCK_TOKENS * g->slots * g->width + k->tile_rows * APART +
           (k->together > 1 ? most(BLOCK_TOKENS * blocks(g->inputs, 2), k->tile_rows * g->width) : 0);
}

static inline n_t backward_scratch(const gru_t *g, const kernels_t *k) {
    n_t tokens = BLOCK_TOKENS + k->tile_rows;
    return (6 * k->tile_rows + 1) * g->width +
           tokens * (g->width + g->slots * g->width + BLOCK_WEIGHTS + k->tile_rows);
}

static inline n_t gate_scratch(const gated_t *g, const kernels_t *k) {
    const n_t wide = round_up(g->width, LANES);
    return g->columns * (g->width + 1) + g->asked * wide + GATED_TOKENS * wide +
           (k->together > 1 ? GATED_TOKENS * most(wide, g->columns) : 0);
}

static inline n_t gate_gradient_scratch(const gated_t *g, const kernels_t *k) {
    const n_t wide = round_up(g->width, LANES);
    return gate_scratch(g, k) + g->asked * wide + GATED_TOKENS * (g->columns + wide);
}

#endif
