/* The GRU, forward and backward; a part of simd.h, which lists the macros that are used here. */

/* ---- a block of steps at a time, for all rows ---- */

/* A stretch: consecutive steps of one direction, for some rows of the batch. */
typedef struct {
    n_t direction, first, rows; /* of the batch */
    n_t begin, end;             /* steps, in the order of this direction */
    float *gates;               /* those of row `first` at the lowest position of the stretch */
    n_t row_stride;             /* floats from one row of the batch to the next */
} NAME(stretch);

/* The position that this direction reads at a step. */
INLINE n_t NAME(position)(const gru_t *g, n_t direction, n_t step) {
    return direction ? g->steps - 1 - step : step;
}

INLINE n_t NAME(lowest)(const gru_t *g, const NAME(stretch) * s) {
    return s->direction ? g->steps - s->end : s->begin;
}

/* Fetch the inputs of a token, which are in main memory, into the second-level cache. */
INLINE void NAME(fetch_inputs)(const gru_t *g, n_t token) {
    for (n_t j = 0; !g->words && j < g->inputs; j += 16) __builtin_prefetch(g->x + token * g->inputs + j, 0, 2);
}

INLINE float *NAME(gates_at)(const gru_t *g, const NAME(stretch) * s, n_t i, n_t position) {
    return s->gates + i * s->row_stride + (position - NAME(lowest)(g, s)) * g->slots * g->width;
}

/* W x + b for `count` rows of x and one panel of columns. */
INLINE void NAME(input_panel)(const gru_t *g, n_t direction, n_t column, NAME(left) x, n_t count, float *to, n_t row) {
    const n_t columns = 3 * g->width, depth = DEPTH(g->inputs), blocks = (depth + BLOCK_DEPTH - 1) / BLOCK_DEPTH;
    const OPERAND *w = (const OPERAND *)g->packed_w + (direction * columns + column) * depth, *at = x.at;
    const float *bias = g->packed_bias + direction * columns + column;
    for (n_t block = 0; block < blocks; block++) {
        n_t from = depth * block / blocks, end = depth * (block + 1) / blocks;
        x.at = at + from;
        NAME(product)(count, x, w + from * PANEL, 0, end - from, to, row, PANEL, block ? (const float *)0 : bias,
                      block > 0);
    }
}

static void NAME(fill_table)(const gru_t *g, n_t direction, n_t first, n_t end, float *buffer) {
    float *to = g->table + (direction * g->rows + first) * 3 * g->width;
    const NAME(left) x = NAME(left_of)(g->x + first * g->inputs, g->inputs, end - first, g->inputs, buffer);
    for (n_t j = 0; j < 3 * g->width; j += PANEL) {
        NAME(input_panel)(g, direction, j, x, end - first, to + j, 3 * g->width);
    }
}

/* W x + b of a token: a row of the table, or what `inputs` has left in its gates. */
INLINE const float *NAME(inputs_of)(const gru_t *g, const NAME(stretch) * s, n_t i, n_t position) {
    if (!g->words) return NAME(gates_at)(g, s, i, position);
    const int64_t word = g->words[(s->first + i) * g->steps + position];
    return g->table + (s->direction * g->rows + word) * 3 * g->width;
}

/* Fetch the first row to read it in the next step, and the second to write it. */
INLINE void NAME(fetch_ahead)(const float *from, const float *to, n_t count) {
    for (n_t j = 0; j < count; j += 16) __builtin_prefetch(from + j), __builtin_prefetch(to + j, 1);
}

/* gates = W x + b, unless the sums are in the table */
static void NAME(inputs)(const gru_t *g, const NAME(stretch) * s, float *buffer) {
    const n_t row = g->slots * g->width, steps = s->end - s->begin;
    if (g->words) return;
    NAME(left) x[TILE_ROWS];
    for (n_t i = 0; i < s->rows; i++) {
        x[i] = NAME(left_of)(g->x + ((s->first + i) * g->steps + NAME(lowest)(g, s)) * g->inputs, g->inputs, steps,
                             g->inputs, buffer + i * steps * DEPTH(g->inputs));
    }
    for (n_t j = 0; j < 3 * g->width; j += PANEL) { /* panel by panel, each for all tokens */
        for (n_t i = 0; i < s->rows; i++) {
            NAME(input_panel)(g, s->direction, j, x[i], steps, s->gates + i * s->row_stride + j, row);
        }
    }
}

/* dX = dG Wᵀ, over both directions */
static void NAME(input_gradient)(const gru_t *g, n_t first, n_t end, float *buffer) {
    const n_t depth = DEPTH(3 * g->width), blocks = (depth + BLOCK_DEPTH - 1) / BLOCK_DEPTH;
    for (n_t d = 0; d < 2; d++) {
        const OPERAND *w = (const OPERAND *)g->packed_w + d * round_up(g->inputs, PANEL) * depth;
        const NAME(left) gradient = NAME(left_of)(g->d_table + (d * g->rows + first) * g->d_table_row, g->d_table_row,
                                                  end - first, 3 * g->width, buffer);
        for (n_t block = 0; block < blocks; block++) {
            n_t from = depth * block / blocks, to = depth * (block + 1) / blocks;
            const NAME(left) part = {gradient.at + from, gradient.row, 1};
            NAME(product)(end - first, part, w + from * PANEL, depth * PANEL, to - from, g->d_x + first * g->inputs,
                          g->inputs, g->inputs, (const float *)0, d + block > 0);
        }
    }
}

/* The state before a step, which is the output of the last real token before it; null for zeros. */
INLINE const float *NAME(state_before)(const gru_t *g, n_t direction, n_t row, n_t step) {
    do step--;
    while (step >= 0 && !g->mask[row * g->steps + NAME(position)(g, direction, step)]);
    if (step < 0) return 0;
    return g->out + ((row * g->steps + NAME(position)(g, direction, step)) * 2 + direction) * g->hidden;
}

/* Copy columns `from` … `from + count` of the rows at `sources` (null: zeros) as A for product_packed. */
#if VECTOR % TILE_ROWS == 0
static void NAME(pack_left)(OPERAND *a, const float *const *sources, n_t tokens, n_t from, n_t count) {
    enum { SOME = 16 }; /* rows of operands that fit in the first-level cache */
    const n_t depth = DEPTH(tokens);
    for (n_t some = 0; some < depth; some += SOME) {
        for (n_t i = 0; i < count; i += VECTOR) {
            for (n_t k = some; k < least(some + SOME, depth); k++) {
                const float *row = sources[k * TOGETHER];
                const float *next = TOGETHER > 1 && k * TOGETHER + 1 < tokens ? sources[k * TOGETHER + 1] : 0;
                for (n_t j = (k + SOME) * TOGETHER; j < least((k + SOME + 1) * TOGETHER, tokens); j++) {
                    if (sources[j]) __builtin_prefetch(sources[j] + from + i);
                }
                const VO v = NAME(operands)(NAME(load_part)(row ? row + from : row, i, count),
                                            NAME(load_part)(next ? next + from : next, i, count));
                UNROLL for (int part = 0; part < VECTOR; part += TILE_ROWS) { /* a tile's operands side by side */
                    if (i + part < count) {
                        __builtin_memcpy(a + (i + part) * depth + k * TILE_ROWS, (const OPERAND *)&v + part,
                                         TILE_ROWS * sizeof *a);
                    }
                }
            }
        }
    }
}
#else
/* Operands of `count` columns from `from` of row k of `tokens` rows (null: zeros); with BF16 in `buffer`. */
INLINE const OPERAND *NAME(row_operands)(const float *const *rows, n_t k, n_t tokens, n_t from, n_t count,
                                         OPERAND *buffer) {
    const float *row = rows[k] ? rows[k] + from : 0;
#ifdef BF16
    const float *next = k + 1 < tokens && rows[k + 1] ? rows[k + 1] + from : 0;
    if (!row && !next) return 0;
    for (n_t j = 0; j < count; j += VECTOR) {
        NAME(put)(buffer + j, NAME(operands)(NAME(load_part)(row, j, count), NAME(load_part)(next, j, count)));
    }
    return buffer;
#else
    (void)tokens, (void)count, (void)buffer;
    return row;
#endif
}

static void NAME(pack_left)(OPERAND *a, const float *const *sources, n_t tokens, n_t from, n_t count) {
    enum { SOME = 16 }; /* rows of operands that fit in the first-level cache */
    OPERAND buffer[SOME][TOGETHER > 1 ? BLOCK_WEIGHTS : 1];
    const n_t depth = DEPTH(tokens);
    for (n_t some = 0; some < depth; some += SOME) {
        const n_t end = least(some + SOME, depth);
        const OPERAND *rows[SOME];
        for (n_t k = some; k < end; k++) {
            rows[k - some] = NAME(row_operands)(sources, k * TOGETHER, tokens, from, count, buffer[k - some]);
        }
        for (n_t i = 0; i < count; i += TILE_ROWS) {
            n_t real = least(TILE_ROWS, count - i);
            for (n_t k = some; k < end; k++) {
                OPERAND *to = a + i * depth + k * TILE_ROWS;
                const OPERAND *row = rows[k - some] ? rows[k - some] + i : 0;
                if (row && real == TILE_ROWS) {
                    for (n_t j = 0; j < TILE_ROWS; j++) to[j] = row[j];
                } else {
                    for (n_t j = 0; j < TILE_ROWS; j++) to[j] = row && j < real ? row[j] : 0;
                }
            }
        }
    }
}
#endif

/* `columns` columns of a weight gradient += Aᵀ B over the tokens of a stretch; B is packed, A's rows at `sources`. */
static void NAME(add_gradient)(float *d_weights, n_t stride, const float *const *sources, n_t rows, const OPERAND *b,
                               n_t tokens, n_t columns, OPERAND *a) {
    const n_t depth = DEPTH(tokens);
    for (n_t from = 0; from < rows; from += BLOCK_WEIGHTS) {
        n_t count = least(BLOCK_WEIGHTS, rows - from);
        NAME(pack_left)(a, sources, tokens, from, count);
        for (n_t j = 0; j < columns; j += PANEL) {
            for (n_t i = 0; i < count; i += TILE_ROWS) {
                NAME(product_packed)(least(TILE_ROWS, count - i), a + i * depth, b + j * depth, depth * PANEL, depth,
                                     d_weights + (from + i) * stride + j, stride, PANEL, 1);
            }
        }
    }
}

/* Pack rows for the right side of add_gradient: `columns` floats of each of `tokens` rows. */
static void NAME(pack_right)(OPERAND *b, const float *const *rows, n_t tokens, n_t columns) {
    for (n_t k = 0; k < tokens; k += TOGETHER) {
        const float *next = TOGETHER > 1 && k + 1 < tokens ? rows[k + 1] : 0;
        OPERAND *to = b + k / TOGETHER * PANEL;
        for (n_t j = 0; j < columns; j += VECTOR) {
            NAME(put)(to + j / PANEL * PANEL * DEPTH(tokens) + j % PANEL,
                      NAME(operands)(load(rows[k] + j), NAME(load_part)(next, j, columns)));
        }
    }
}

/* Add the part of some rows to the gradients of W and b; `b` has the packed gradients of their gates. */
static void NAME(input_weights)(const gru_t *g, const float *const *x, const float *const *d, const OPERAND *b,
                                n_t tokens, float *d_weights, OPERAND *a) {
    float *d_bias = d_weights + (g->inputs + g->hidden) * 3 * g->width;
    for (n_t k = 0; k < tokens; k++) {
        for (n_t j = 0; j < 3 * g->width; j += VECTOR) store(d_bias + j, load(d_bias + j) + load(d[k] + j));
    }
    NAME(add_gradient)(d_weights, 3 * g->width, x, g->inputs, b, tokens, 3 * g->width, a);
}

static void NAME(table_weights)(const gru_t *g, n_t direction, n_t first, n_t end, float *d_weights, float *scratch) {
    const n_t tokens = end - first;
    const float *x[BLOCK_TOKENS + TILE_ROWS] = {0}, *d[BLOCK_TOKENS + TILE_ROWS] = {0};
    OPERAND *b = (OPERAND *)scratch, *a = b + DEPTH(tokens) * 3 * g->width;
    for (n_t k = 0; k < tokens; k++) {
        x[k] = g->x + (first + k) * g->inputs;
        d[k] = g->d_table + (direction * g->rows + first + k) * g->d_table_row;
    }
    NAME(pack_right)(b, d, tokens, 3 * g->width);
    NAME(input_weights)(g, x, d, b, tokens, d_weights, a);
}

/* Add the part of a stretch to the gradients of U and, without words, of W and b; `resets` has r ⊙ h of its tokens. */
static void NAME(stretch_weights)(const gru_t *g, const NAME(stretch) * s, const float *resets, float *d_weights,
                                  float *scratch) {
    const n_t steps = s->end - s->begin, tokens = steps * s->rows, width = g->width;
    const float *left[BLOCK_TOKENS + TILE_ROWS] = {0}, *d[BLOCK_TOKENS + TILE_ROWS] = {0};
    OPERAND *b = (OPERAND *)scratch, *a = b + DEPTH(tokens) * g->slots * width;
    float *d_u = d_weights + g->inputs * 3 * width;
    for (n_t k = 0; k < tokens; k++) {
        n_t row = s->first + k / steps, position = NAME(lowest)(g, s) + k % steps;
        d[k] = NAME(gates_at)(g, s, k / steps, position);
        left[k] = g->x + (row * g->steps + position) * g->inputs;
    }
    NAME(pack_right)(b, d, tokens, g->slots * width);
    if (!g->words) NAME(input_weights)(g, left, d, b, tokens, d_weights, a);
    for (n_t k = 0; k < tokens; k++) {
        n_t row = s->first + k / steps, position = NAME(lowest)(g, s) + k % steps;
        n_t step = NAME(position)(g, s->direction, position); /* its own inverse */
        n_t real = g->mask[row * g->steps + position];
        left[k] = real ? NAME(state_before)(g, s->direction, row, step) : (const float *)0;
    }
    NAME(add_gradient)(d_u, 3 * width, left, g->hidden, b, tokens, 2 * width, a);
    if (g->cell == PAPER) {
        for (n_t k = 0; k < tokens; k++) left[k] = resets + k * width;
    }
    NAME(add_gradient)(d_u + 2 * width, 3 * width, left, g->hidden, b + (g->slots - 1) * width * DEPTH(tokens), tokens,
                       width, a);
}

/* ---- step by step ---- */

static void NAME(forward_steps)(const gru_t *g, const NAME(stretch) * s, float *state, float *scratch,
                                float *buffer) {
    const n_t rows = s->rows, width = g->width, hidden = g->hidden, depth = DEPTH(hidden), u_panel = depth * PANEL;
    const OPERAND *u = (const OPERAND *)g->packed_u + s->direction * 3 * width * depth;
    float *reset = scratch, *product = reset + rows * width;
    const n_t ahead = s->direction ? s->begin - s->end : s->end - s->begin; /* to this step of the next stretch */
    for (n_t step = s->begin; step < s->end; step++) {
        const n_t position = NAME(position)(g, s->direction, step);
        NAME(left) left = NAME(left_of)(state, width, rows, width, buffer); /* zeros beyond `hidden` */
        if (g->cell == PAPER) {
            NAME(product)(rows, left, u, u_panel, depth, product, 3 * width, 2 * width, (const float *)0, 0);
            for (n_t i = 0; i < rows; i++) {
                float *r = NAME(gates_at)(g, s, i, position), *z = r + width;
                const float *p = product + i * 3 * width, *h = state + i * width;
                const float *x = NAME(inputs_of)(g, s, i, position);
                for (n_t j = 0; j < width; j += VECTOR) {
                    V reset_gate = NAME(sigmoid)(load(x + j) + load(p + j));
                    store(r + j, reset_gate);
                    store(z + j, NAME(sigmoid)(load(x + width + j) + load(p + width + j)));
                    store(reset + i * width + j, reset_gate * load(h + j));
                }
            }
            left = NAME(left_of)(reset, width, rows, width, buffer);
            NAME(product)(rows, left, u + 2 * width * depth, u_panel, depth, product + 2 * width, 3 * width, width,
                          (const float *)0, 0);
        } else {
            NAME(product)(rows, left, u, u_panel, depth, product, 3 * width, 3 * width, (const float *)0, 0);
        }
        for (n_t i = 0; i < rows; i++) {
            const n_t token = (s->first + i) * g->steps + position;
            if (position + ahead >= 0 && position + ahead < g->steps) NAME(fetch_inputs)(g, token + ahead);
            float *r = NAME(gates_at)(g, s, i, position), *z = r + width, *candidate = z + width;
            float *kept = candidate + width, *h = state + i * width, *out = g->out + (token * 2 + s->direction) * hidden;
            const float *p = product + i * 3 * width, *x = NAME(inputs_of)(g, s, i, position);
            if (g->words && step + 1 < s->end) {
                const n_t next = NAME(position)(g, s->direction, step + 1);
                NAME(fetch_ahead)(NAME(inputs_of)(g, s, i, next), NAME(gates_at)(g, s, i, next), 3 * width);
            }
            if (!g->mask[token]) {
                for (n_t j = 0; j < hidden; j++) out[j] = 0.0f;
                continue;
            }
            for (n_t j = 0; j < width; j += VECTOR) {
                V old = load(h + j), last = load(p + 2 * width + j), c;
                if (g->cell == PAPER) {
                    c = NAME(tanh)(load(x + 2 * width + j) + last);
                    store(h + j, old + load(z + j) * (c - old));
                } else {
                    V reset_gate = NAME(sigmoid)(load(x + j) + load(p + j));
                    V update_gate = NAME(sigmoid)(load(x + width + j) + load(p + width + j));
                    c = NAME(tanh)(load(x + 2 * width + j) + reset_gate * last);
                    store(r + j, reset_gate);
                    store(z + j, update_gate);
                    store(kept + j, last);
                    store(h + j, c + update_gate * (old - c));
                }
                store(candidate + j, c);
            }
            for (n_t j = 0; j < hidden; j++) out[j] = h[j];
        }
    }
}

static void NAME(backward_steps)(const gru_t *g, const NAME(stretch) * s, float *carry, float *resets, float *scratch,
                                 float *buffer) {
    const n_t rows = s->rows, width = g->width, hidden = g->hidden, u_panel = DEPTH(3 * width) * PANEL;
    const OPERAND *u = (const OPERAND *)g->packed_u + s->direction * width * DEPTH(3 * width); /* Uᵀ */
    float *before = scratch, *d_reset = before + rows * width;
    float *d_gates = d_reset + rows * width;   /* (rows, 3, width): left sides of the products with Uᵀ */
    float *d_out = d_gates + rows * 3 * width; /* (width) */
    for (n_t i = 0; i < rows * width; i++) before[i] = 0.0f;
    for (n_t j = 0; j < width; j++) d_out[j] = 0.0f;

    for (n_t step = s->end - 1; step >= s->begin; step--) {
        const n_t position = NAME(position)(g, s->direction, step);
        /* To what the next step reads: it is in main memory and is fetched while this step multiplies. */
        const n_t ahead = step > 1 ? s->direction ? 1 : -1 : 0;
        const n_t next_gates = ahead * g->slots * width, next_state = ahead * 2 * hidden;
        for (n_t i = 0; i < rows; i++) {
            const n_t token = (s->first + i) * g->steps + position;
            float *r = NAME(gates_at)(g, s, i, position), *z = r + width, *candidate = z + width;
            float *kept = candidate + width, *d = d_gates + i * 3 * width, *dh = carry + i * width;
            float *h = before + i * width;
            if (!g->mask[token]) { /* a masked step keeps the state, so its gradient passes through */
                for (n_t j = 0; j < g->slots * width; j++) r[j] = 0.0f;
                for (n_t j = 0; j < 3 * width; j++) d[j] = 0.0f;
                continue;
            }
            const float *old = NAME(state_before)(g, s->direction, s->first + i, step);
            const float *above = g->d_out + (token * 2 + s->direction) * hidden;
            NAME(fetch_inputs)(g, token); /* for stretch_weights */
            for (n_t j = 0; j < hidden; j++) h[j] = old ? old[j] : 0.0f;
            for (n_t j = 0; j < hidden; j++) d_out[j] = above[j];
            for (n_t j = 0; j < width; j += VECTOR) {
                __builtin_prefetch(z + next_gates + j);
                __builtin_prefetch(candidate + next_gates + j);
                __builtin_prefetch(above + next_state + j);
                if (old) __builtin_prefetch(old + next_state + j);
                V dh_new = load(dh + j) + load(d_out + j);
                V update_gate = load(z + j), c = load(candidate + j), change = c - load(h + j), dz, dc;
                if (g->cell == PAPER) {
                    dz = dh_new * change * update_gate * (1.0f - update_gate);
                    dc = dh_new * update_gate * (1.0f - c * c);
                    store(dh + j, dh_new * (1.0f - update_gate));
                    store(d + 2 * width + j, dc);
                } else {
                    __builtin_prefetch(r + next_gates + j);
                    __builtin_prefetch(kept + next_gates + j);
                    V reset_gate = load(r + j);
                    dz = -dh_new * change * update_gate * (1.0f - update_gate);
                    dc = dh_new * (1.0f - update_gate) * (1.0f - c * c);
                    V dr = dc * load(kept + j) * reset_gate * (1.0f - reset_gate);
                    store(dh + j, dh_new * update_gate);
                    store(r + j, dr);
                    store(d + j, dr);
                    store(kept + j, dc * reset_gate);
                    store(d + 2 * width + j, dc * reset_gate);
                }
                store(z + j, dz);
                store(d + width + j, dz);
                store(candidate + j, dc);
            }
        }
        if (g->cell == PAPER) {
            NAME(left) left = NAME(left_of)(d_gates + 2 * width, 3 * width, rows, width, buffer);
            NAME(product)(rows, left, u + DEPTH(2 * width) * PANEL, u_panel, DEPTH(width), d_reset, width, width,
                          (const float *)0, 0);
            for (n_t i = 0; i < rows; i++) {
                float *r = NAME(gates_at)(g, s, i, position), *dh = carry + i * width;
                float *reset = resets + (i * (s->end - s->begin) + position - NAME(lowest)(g, s)) * width;
                const float *h = before + i * width;
                if (!g->mask[(s->first + i) * g->steps + position]) {
                    for (n_t j = 0; j < width; j++) reset[j] = 0.0f;
                    continue;
                }
                for (n_t j = 0; j < width; j += VECTOR) {
                    __builtin_prefetch(r + next_gates + j);
                    V reset_gate = load(r + j), old = load(h + j), d = load(d_reset + i * width + j);
                    V dr = d * old * reset_gate * (1.0f - reset_gate);
                    store(reset + j, reset_gate * old);
                    store(dh + j, load(dh + j) + d * reset_gate);
                    store(r + j, dr);
                    store(d_gates + i * 3 * width + j, dr);
                }
            }
            left = NAME(left_of)(d_gates, 3 * width, rows, 2 * width, buffer);
            NAME(product)(rows, left, u, u_panel, DEPTH(2 * width), carry, width, width, (const float *)0, 1);
        } else {
            const NAME(left) left = NAME(left_of)(d_gates, 3 * width, rows, 3 * width, buffer);
            NAME(product)(rows, left, u, u_panel, DEPTH(3 * width), carry, width, width, (const float *)0, 1);
        }
    }
}

/* ---- a whole direction ---- */

static NAME(stretch) NAME(stretch_of)(const gru_t *g, n_t direction, n_t first, n_t rows, n_t begin, n_t end) {
    NAME(stretch) s = {direction, first, rows, begin, end, g->gates, g->steps * g->slots * g->width};
    if (g->gates) {
        s.gates += ((direction * g->batch + first) * g->steps + NAME(lowest)(g, &s)) * g->slots * g->width;
    }
    return s;
}

/* The end of the longest of some rows; the positions after it are padding and are skipped. */
static n_t NAME(reach)(const gru_t *g, n_t first, n_t end) {
    n_t reach = 0;
    for (n_t row = first; row < end; row++) {
        const uint8_t *mask = g->mask + row * g->steps;
        for (n_t position = g->steps; position > reach; position--) {
            if (mask[position - 1]) reach = position;
        }
    }
    return reach;
}

static void NAME(forward)(const gru_t *g, n_t direction, n_t first, n_t end, float *scratch) {
    const n_t rows = end - first, some = BLOCK_TOKENS / rows, reach = NAME(reach)(g, first, end);
    const n_t start = direction ? g->steps - reach : 0, stop = start + reach;
    float *state = scratch, *temporary = state + rows * g->width, *gates = temporary + 4 * rows * g->width;
    float *buffer = gates + BLOCK_TOKENS * g->slots * g->width + rows * APART;
    for (n_t i = 0; i < rows * g->width; i++) state[i] = 0.0f;
    for (n_t row = first; row < end; row++) {
        for (n_t position = reach; position < g->steps; position++) {
            float *out = g->out + ((row * g->steps + position) * 2 + direction) * g->hidden;
            for (n_t j = 0; j < g->hidden; j++) out[j] = 0.0f;
        }
    }
    for (n_t begin = start; begin < stop; begin += some) {
        NAME(stretch) s = NAME(stretch_of)(g, direction, first, rows, begin, least(begin + some, stop));
        if (!g->gates) s.gates = gates, s.row_stride = some * g->slots * g->width + APART;
        NAME(inputs)(g, &s, buffer);
        NAME(forward_steps)(g, &s, state, temporary, buffer);
    }
}

static void NAME(backward)(const gru_t *g, n_t direction, n_t first, n_t end, float *d_weights, float *scratch) {
    const n_t rows = end - first, some = BLOCK_TOKENS / rows, width = g->width, reach = NAME(reach)(g, first, end);
    const n_t start = direction ? g->steps - reach : 0, stop = start + reach;
    float *carry = scratch, *temporary = carry + rows * width, *resets = temporary + (5 * rows + 1) * width;
    float *packed = resets + some * rows * width;
    for (n_t i = 0; i < rows * width; i++) carry[i] = 0.0f;
    for (n_t row = first; row < end && !g->words; row++) { /* with words, only those of real tokens are read */
        float *gates = g->gates + (direction * g->batch + row) * g->steps * g->slots * width;
        for (n_t i = reach * g->slots * width; i < g->steps * g->slots * width; i++) gates[i] = 0.0f;
    }
    for (n_t last = stop; last > start; last -= least(some, last - start)) {
        NAME(stretch) s = NAME(stretch_of)(g, direction, first, rows, last - least(some, last - start), last);
        NAME(backward_steps)(g, &s, carry, resets, temporary, packed);
        NAME(stretch_weights)(g, &s, resets, d_weights, packed);
    }
}
