/* Gated attention, forward and backward; a part of simd.h, which lists the macros that are used here. */

/* e to the power x, for x ≤ 0: 2^n times a polynomial of the remainder, with a relative error of at most 2e-7. */
INLINE V NAME(exp)(V x) {
    const VI tiny = x < -87.0f;
    x = NAME(choose)(tiny, (V){0}, x);
    V n = (x * 1.44269504f + 12582912.0f) - 12582912.0f; /* rounded to a whole number */
    V r = x - n * 0.693359375f + n * 2.12194440e-4f, p = r * (1.0f / 720) + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    VI power = (__builtin_convertvector(n, VI) + 127) << 23;
    return NAME(choose)(tiny, (V){0}, p * (V)power);
}

INLINE float NAME(sum)(V x) {
    float sum = 0.0f;
    UNROLL for (int i = 0; i < VECTOR; i++) sum += x[i];
    return sum;
}

/* A packed query: its transpose, the query itself, and a bias of −∞ for masked words. */
typedef struct {
    OPERAND *transposed; /* panels of (width, columns) */
    OPERAND *rows;       /* panels of (asked, wide) */
    float *bias;         /* (columns,) */
    float *rest;         /* of the scratch memory */
    n_t wide;            /* width, rounded up to LANES */
} NAME(query);

/* Pack rows of `width` floats, `row` apart, into panels; incomplete panels are padded with zeros. */
static void NAME(pack_rows)(OPERAND *to, const float *from, n_t row, n_t rows, n_t width) {
    for (n_t j = 0; j < width; j += PANEL) {
        for (n_t k = 0; k < rows; k += TOGETHER, to += PANEL) {
            const float *first = from + k * row, *second = NAME(partner)(first, row, k, rows);
            for (n_t i = 0; i < PANEL; i += VECTOR) {
                NAME(put)(to + i, NAME(operands)(NAME(load_part)(first, j + i, width),
                                                 NAME(load_part)(second, j + i, width)));
            }
        }
    }
}

static NAME(query) NAME(pack_query)(const gated_t *g, n_t document, float *scratch) {
    const n_t wide = round_up(g->width, LANES), depth = DEPTH(g->width);
    NAME(query) q = {.transposed = (OPERAND *)scratch, .wide = wide};
    q.rows = q.transposed + g->columns * depth;
    q.bias = (float *)(q.rows + DEPTH(g->asked) * wide);
    q.rest = q.bias + g->columns;
    const float *query = g->query + document * g->asked * g->width;
    for (n_t word = 0; word < g->columns; word++) {
        OPERAND *to = q.transposed + word / PANEL * PANEL * depth + word % PANEL;
        const NAME(left) row = NAME(left_of)(query + word * g->width, 0, word < g->asked, g->width, q.rest);
        for (n_t k = 0; k < depth; k++) to[k * PANEL] = word < g->asked ? row.at[k] : 0;
        q.bias[word] = word < g->asked && g->mask[document * g->asked + word] ? 0.0f : -__builtin_inff();
    }
    NAME(pack_rows)(q.rows, query, g->width, g->asked, g->width);
    return q;
}

static void NAME(softmax)(float *row, n_t columns) {
    V most = load(row), sums = {0};
    for (n_t j = VECTOR; j < columns; j += VECTOR) most = NAME(choose)(load(row + j) > most, load(row + j), most);
    float top = most[0];
    UNROLL for (int i = 1; i < VECTOR; i++) top = most[i] > top ? most[i] : top;
    for (n_t j = 0; j < columns; j += VECTOR) {
        V power = NAME(exp)(load(row + j) - top);
        store(row + j, power);
        sums += power;
    }
    const float share = 1.0f / NAME(sum)(sums);
    for (n_t j = 0; j < columns; j += VECTOR) store(row + j, load(row + j) * share);
}

/* The query vectors q̃ = α Q of some tokens. */
static void NAME(views)(const gated_t *g, const NAME(query) * q, const float *alpha, n_t tokens, float *view,
                        float *buffer) {
    NAME(product)(tokens, NAME(left_of)(alpha, g->columns, tokens, g->asked, buffer), q->rows, DEPTH(g->asked) * PANEL,
                  DEPTH(g->asked), view, q->wide, q->wide, (const float *)0, 0);
}

/* D Qᵀ of some tokens, or of their gradients, `row` floats apart. */
static void NAME(matches)(const gated_t *g, const NAME(query) * q, const float *d, n_t row, n_t tokens, float *match,
                          const float *bias, float *buffer) {
    NAME(product)(tokens, NAME(left_of)(d, row, tokens, g->width, buffer), q->transposed, DEPTH(g->width) * PANEL,
                  DEPTH(g->width), match, g->columns, g->columns, bias, 0);
}

/* The dropout factors of the gated numbers: zero where they are dropped. */
INLINE V NAME(kept)(const gated_t *g, n_t at) {
    typedef int16_t draws __attribute__((vector_size(VECTOR * 2), aligned(2), may_alias));
    if (!g->draws) return (V){0} + 1.0f;
    const VI draw = __builtin_convertvector(*(const draws *)(g->draws + at), VI);
    return NAME(choose)(draw < (int32_t)g->threshold, (V){0}, (V){0} + g->scale);
}

INLINE float NAME(kept_one)(const gated_t *g, n_t at) {
    return !g->draws ? 1.0f : g->draws[at] < g->threshold ? 0.0f : g->scale;
}

/* X of one token. */
static void NAME(gate_token)(const gated_t *g, n_t token, const float *seen) {
    const n_t at = token * g->width;
    float *out = g->out + token * g->out_row;
    n_t j = 0;
    for (; j + VECTOR <= g->width; j += VECTOR) {
        store(out + j, load(g->document + at + j) * load(seen + j) * NAME(kept)(g, at + j));
    }
    for (; j < g->width; j++) out[j] = g->document[at + j] * seen[j] * NAME(kept_one)(g, at + j);
}

/* The gradient of a token's state through the gate; the gradient of its query vector overwrites `seen`. */
static void NAME(gate_token_gradient)(const gated_t *g, n_t token, float *seen) {
    const n_t at = token * g->width;
    n_t j = 0;
    for (; j + VECTOR <= g->width; j += VECTOR) {
        const V d = load(g->d_out + at + j) * NAME(kept)(g, at + j);
        store(g->d_document + at + j, d * load(seen + j));
        store(seen + j, d * load(g->document + at + j));
    }
    for (; j < g->width; j++) {
        const float d = g->d_out[at + j] * NAME(kept_one)(g, at + j);
        g->d_document[at + j] = d * seen[j];
        seen[j] = d * g->document[at + j];
    }
}

static void NAME(gate)(const gated_t *g, n_t document, n_t first, n_t end, float *scratch) {
    const NAME(query) q = NAME(pack_query)(g, document, scratch);
    float *view = q.rest, *buffer = view + GATED_TOKENS * q.wide;
    for (n_t some; first < end; first += some) {
        some = least(GATED_TOKENS, end - first);
        const n_t token = document * g->tokens + first;
        float *alpha = g->alpha + token * g->columns;
        NAME(matches)(g, &q, g->document + token * g->width, g->width, some, alpha, q.bias, buffer);
        for (n_t i = 0; i < some; i++) NAME(softmax)(alpha + i * g->columns, g->columns);
        NAME(views)(g, &q, alpha, some, view, buffer);
        for (n_t i = 0; i < some; i++) NAME(gate_token)(g, token + i, view + i * q.wide);
    }
}

/* Add Aᵀ B over some tokens to the query's gradient: A (tokens, columns), B (tokens, width), packed here. */
static void NAME(add_to_query)(const gated_t *g, n_t tokens, const float *a, const float *b, n_t b_row, float *packed,
                               float *d_query, n_t wide, float *buffer) {
    NAME(pack_rows)((OPERAND *)packed, b, b_row, tokens, g->width);
    NAME(multiply)(g->asked, NAME(left_of_transpose)(a, g->columns, tokens, buffer), (OPERAND *)packed,
                   DEPTH(tokens) * PANEL, DEPTH(tokens), d_query, wide, wide, (const float *)0, 1);
}

static void NAME(gate_gradient)(const gated_t *g, n_t document, float *scratch) {
    const NAME(query) q = NAME(pack_query)(g, document, scratch);
    float *view = q.rest, *d_query = view + GATED_TOKENS * q.wide, *d_alpha = d_query + g->asked * q.wide;
    float *packed = d_alpha + GATED_TOKENS * g->columns, *buffer = packed + GATED_TOKENS * q.wide;
    for (n_t i = 0; i < g->asked * q.wide; i++) d_query[i] = 0.0f;
    for (n_t first = 0, some; first < g->tokens; first += some) {
        some = least(GATED_TOKENS, g->tokens - first);
        const n_t token = document * g->tokens + first;
        const float *alpha = g->alpha + token * g->columns, *d = g->document + token * g->width;
        NAME(views)(g, &q, alpha, some, view, buffer);
        for (n_t i = 0; i < some; i++) NAME(gate_token_gradient)(g, token + i, view + i * q.wide);
        NAME(matches)(g, &q, view, q.wide, some, d_alpha, (const float *)0, buffer);
        NAME(add_to_query)(g, some, alpha, view, q.wide, packed, d_query, q.wide, buffer);
        for (n_t i = 0; i < some; i++) { /* gradient of the logits, in place */
            const float *a = alpha + i * g->columns;
            float *da = d_alpha + i * g->columns;
            V sums = {0};
            for (n_t j = 0; j < g->columns; j += VECTOR) sums += load(a + j) * load(da + j);
            const float mean = NAME(sum)(sums);
            for (n_t j = 0; j < g->columns; j += VECTOR) store(da + j, load(a + j) * (load(da + j) - mean));
        }
        NAME(product)(some, NAME(left_of)(d_alpha, g->columns, some, g->asked, buffer), q.rows, DEPTH(g->asked) * PANEL,
                      DEPTH(g->asked), g->d_document + token * g->width, g->width, g->width, (const float *)0, 1);
        NAME(add_to_query)(g, some, d_alpha, d, g->width, packed, d_query, q.wide, buffer);
    }
    for (n_t word = 0; word < g->asked; word++) {
        float *to = g->d_query + (document * g->asked + word) * g->width;
        for (n_t j = 0; j < g->width; j++) to[j] = d_query[word * q.wide + j];
    }
}
