/* Vectors, and products with packed weights; a part of simd.h, which lists the macros that are used here. */

typedef float NAME(v) __attribute__((vector_size(VECTOR * 4), aligned(4), may_alias));
typedef int32_t NAME(vi) __attribute__((vector_size(VECTOR * 4), aligned(4), may_alias));
#define V NAME(v)
#define VI NAME(vi)
#define PANEL (2 * VECTOR)
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")

INLINE V NAME(load)(const float *p) { return *(const V *)p; }
INLINE void NAME(store)(float *p, V v) { *(V *)p = v; }
#define load NAME(load)
#define store NAME(store)

/* ---- functions of a vector ---- */

INLINE V NAME(choose)(VI which, V yes, V no) { return (V)((which & (VI)yes) | (~which & (VI)no)); }

/* x P(x²) / Q(x²), the minimax fit on |x| ≤ 8.5, with an error of at most 4e-7; beyond 8.5, tanh is 1 up to the last
   bit but one. */
INLINE V NAME(tanh)(V x) {
    x = NAME(choose)(x < -8.5f, (V){0} - 8.5f, x);
    x = NAME(choose)(x > 8.5f, (V){0} + 8.5f, x);
    V y = x * x;
    V p = y * 9.16780525e-09f + 1.75296556e-05f;
    V q = y * 6.04661965e-07f + 2.97696765e-04f;
    p = p * y + 3.30556118e-03f;
    q = q * y + 2.51508038e-02f;
    p = p * y + 1.32199579e-01f;
    q = q * y + 4.65531685e-01f;
    p = p * y + 9.99999717e-01f;
    q = q * y + 1.0f;
    return x * p / q;
}

INLINE V NAME(sigmoid)(V x) { return 0.5f + 0.5f * NAME(tanh)(0.5f * x); }

/* ---- products with packed weights ---- */

/* C = (or +=) A B for `m` rows and `panels` panels, which are constants after inlining. */
INLINE void NAME(tile)(const int m, const int panels, const float *a, n_t a_row, n_t a_depth, const float *b,
                       n_t b_panel, n_t depth, float *c, n_t c_row, n_t columns, const float *bias, int add) {
    V sum[TILE_ROWS][8];
    UNROLL for (int i = 0; i < m; i++) {
        UNROLL for (int j = 0; j < 2 * panels; j++) sum[i][j] = bias ? load(bias + j * VECTOR) : (V){0};
    }
    for (n_t k = 0; k < depth; k++) {
        V row[8];
        UNROLL for (int j = 0; j < 2 * panels; j++) row[j] = load(b + j / 2 * b_panel + k * PANEL + j % 2 * VECTOR);
        UNROLL for (int i = 0; i < m; i++) {
            UNROLL for (int j = 0; j < 2 * panels; j++) sum[i][j] += a[i * a_row + k * a_depth] * row[j];
        }
    }
    if (columns >= panels * PANEL) {
        UNROLL for (int i = 0; i < m; i++) {
            UNROLL for (int j = 0; j < 2 * panels; j++) {
                float *to = c + i * c_row + j * VECTOR;
                if (add) sum[i][j] += load(to);
                store(to, sum[i][j]);
            }
        }
        return;
    }
    float edge[8 * VECTOR];
    UNROLL for (int i = 0; i < m; i++) {
        UNROLL for (int j = 0; j < 2 * panels; j++) store(edge + j * VECTOR, sum[i][j]);
        for (n_t j = 0; j < columns; j++) c[i * c_row + j] = edge[j] + (add ? c[i * c_row + j] : 0.0f);
    }
}

/* Up to TILE_ROWS rows, with as many panels at a time as fit in the registers. */
#define WIDE(m) ((m) * 4 <= TILE_ROWS ? 4 : (m) * 2 <= TILE_ROWS ? 2 : 1)
#define ROWS(m)                                                                                                     \
    case m:                                                                                                         \
        for (; columns > (WIDE(m) - 1) * PANEL; columns -= WIDE(m) * PANEL) {                                       \
            NAME(tile)(m, WIDE(m), a, a_row, a_depth, b, b_panel, depth, c, c_row, columns, bias, add);             \
            b += WIDE(m) * b_panel, c += WIDE(m) * PANEL, bias = bias ? bias + WIDE(m) * PANEL : bias;              \
        }                                                                                                           \
        for (; columns > 0; columns -= PANEL) {                                                                     \
            NAME(tile)(m, 1, a, a_row, a_depth, b, b_panel, depth, c, c_row, columns, bias, add);                   \
            b += b_panel, c += PANEL, bias = bias ? bias + PANEL : bias;                                            \
        }                                                                                                           \
        break;

INLINE void NAME(few_rows)(n_t rows, const float *a, n_t a_row, n_t a_depth, const float *b, n_t b_panel, n_t depth,
                           float *c, n_t c_row, n_t columns, const float *bias, int add) {
    switch (rows) {
        ROWS(1)
        ROWS(2)
        ROWS(3)
        ROWS(4)
#if TILE_ROWS > 5
        ROWS(5)
#endif
#if TILE_ROWS > 6
        ROWS(6)
        ROWS(7)
#endif
    }
}

/* C = (or +=) bias + A B: B is packed, a_row and a_depth are the strides of A. */
INLINE void NAME(multiply)(n_t rows, const float *a, n_t a_row, n_t a_depth, const float *b, n_t b_panel, n_t depth,
                           float *c, n_t c_row, n_t columns, const float *bias, int add) {
    n_t whole = rows / TILE_ROWS * TILE_ROWS;
    if (whole) {
        const float *panel = b;
        for (n_t j = 0; j < columns; j += PANEL, panel += b_panel) {
            for (n_t i = 0; i < whole; i += TILE_ROWS) {
                NAME(tile)(TILE_ROWS, 1, a + i * a_row, a_row, a_depth, panel, b_panel, depth, c + i * c_row + j,
                           c_row, columns - j, bias ? bias + j : bias, add);
            }
        }
    }
    NAME(few_rows)(rows - whole, a + whole * a_row, a_row, a_depth, b, b_panel, depth, c + whole * c_row, c_row,
                   columns, bias, add);
}

/* A product with a row-major A. */
static void NAME(product)(n_t rows, const float *a, n_t a_row, const float *b, n_t b_panel, n_t depth, float *c,
                          n_t c_row, n_t columns, const float *bias, int add) {
    NAME(multiply)(rows, a, a_row, 1, b, b_panel, depth, c, c_row, columns, bias, add);
}

/* A product with a transposed A, packed: TILE_ROWS elements of a column side by side. */
static void NAME(product_packed)(n_t rows, const float *a, const float *b, n_t b_panel, n_t depth, float *c, n_t c_row,
                                 n_t columns, int add) {
    NAME(multiply)(rows, a, 1, TILE_ROWS, b, b_panel, depth, c, c_row, columns, (const float *)0, add);
}

/* Panel `number` of (depth, 3 hidden) weights. */
static void NAME(pack)(float *packed, const float *weights, n_t depth, n_t hidden, n_t width, n_t number) {
    float *to = packed + number * PANEL * depth;
    for (n_t j = 0; j < PANEL; j += VECTOR) { /* a vector of columns belongs to one gate */
        n_t gate = (number * PANEL + j) / width, unit = (number * PANEL + j) % width;
        n_t real = gate < 3 ? hidden - unit : 0;
        const float *from = weights + gate * hidden + unit;
        for (n_t k = 0; k < depth; k++) {
            if (real >= VECTOR) {
                store(to + k * PANEL + j, load(from + k * 3 * hidden));
            } else {
                for (n_t i = 0; i < VECTOR; i++) to[k * PANEL + j + i] = i < real ? from[k * 3 * hidden + i] : 0.0f;
            }
        }
    }
}

/* Panel `number` of the transpose of (columns, 3 hidden) weights. */
static void NAME(pack_transposed)(float *packed, const float *weights, n_t columns, n_t hidden, n_t width,
                                  n_t number) {
    float *to = packed + number * PANEL * 3 * width;
    n_t real = columns - number * PANEL;
    for (n_t gate = 0; gate < 3; gate++) {
        for (n_t unit = 0; unit < width; unit++, to += PANEL) {
            const float *from = weights + number * PANEL * 3 * hidden + gate * hidden + unit;
            for (n_t j = 0; j < PANEL; j++) to[j] = j < real && unit < hidden ? from[j * 3 * hidden] : 0.0f;
        }
    }
}
