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

/* The vector at `from` of a row of `end` floats, and zeros beyond; null: zeros. */
INLINE V NAME(load_part)(const float *row, n_t from, n_t end) {
    if (row && from + VECTOR <= end) return load(row + from);
    V part = {0};
    for (n_t i = 0; row && from + i < end; i++) part[i] = row[from + i];
    return part;
}

/* ---- functions of a vector ---- */

INLINE V NAME(choose)(VI which, V yes, V no) { return (V)((which & (VI)yes) | (~which & (VI)no)); }

/* The larger and the smaller of two; x if that is not a number. */
#ifdef LARGER
INLINE V NAME(larger)(V bound, V x) { return LARGER(bound, x); }
INLINE V NAME(smaller)(V bound, V x) { return SMALLER(bound, x); }
#else
INLINE V NAME(larger)(V bound, V x) { return NAME(choose)(x < bound, bound, x); }
INLINE V NAME(smaller)(V bound, V x) { return NAME(choose)(x > bound, bound, x); }
#endif

/* x P(x²) / Q(x²), the minimax fit on |x| ≤ 8.5, with an error of at most 4e-7; beyond 8.5, tanh is 1 up to the last
   bit but one. */
INLINE V NAME(tanh)(V x) {
    x = NAME(smaller)((V){0} + 8.5f, NAME(larger)((V){0} - 8.5f, x));
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

/* ---- operands of products ---- */

/* An operand is one float, or with BF16 two bf16 numbers that follow each other in the depth of a product, the first in
   the lower half. Sums are of floats either way.
   OPERAND    an operand
   VO         a vector of operands
   TOGETHER   numbers in an operand
   DEPTH(n)   operands of n numbers
   PARTS      turns in which a tile multiplies operands: two where there is no instruction for pairs */
#define DEPTH(n) (((n) + TOGETHER - 1) / TOGETHER)

#ifdef BF16
typedef uint32_t NAME(operand) __attribute__((may_alias));
typedef uint32_t NAME(vu) __attribute__((vector_size(VECTOR * 4), aligned(4), may_alias));
typedef uint16_t NAME(vh) __attribute__((vector_size(VECTOR * 2), aligned(2), may_alias));
#define OPERAND NAME(operand)
#define VO NAME(vu)
#define TOGETHER 2

/* The nearest bf16 numbers; the even one of two that are as near. NaN stays NaN. */
#ifdef ROUND
INLINE NAME(vh) NAME(halves)(V x) { return ROUND(x); }

/* Operands of two rows of numbers. */
INLINE VO NAME(operands)(V first, V second) {
    return WIDEN(ROUND(first)) | WIDEN(ROUND(second)) << 16;
}
#else
INLINE VO NAME(rounded)(V x) { /* in the upper halves */
    const VO bits = (VO)x, nan = (VO)(x != x);
    const VO nearest = bits + 0x7fff + (bits >> 16 & 1);
    return ((nan & (bits | 0x400000)) | (~nan & nearest)) & 0xffff0000;
}

INLINE NAME(vh) NAME(halves)(V x) { return __builtin_convertvector(NAME(rounded)(x) >> 16, NAME(vh)); }

INLINE VO NAME(operands)(V first, V second) { return NAME(rounded)(first) >> 16 | NAME(rounded)(second); }
#endif

#ifdef DOT
#define PARTS 1
INLINE V NAME(add_product)(V sum, OPERAND a, VO b, int part) {
    (void)part;
    return DOT(sum, (VO){0} + a, b);
}
#else
#define PARTS 2
/* The second number of each pair first, as in vdpbf16ps. Products of bf16 numbers are exact. */
INLINE V NAME(number)(VO pair, int part) { return part ? (V)(pair << 16) : (V)(pair & 0xffff0000); }

INLINE V NAME(add_product)(V sum, OPERAND a, VO b, int part) {
    return sum + NAME(number)((VO){0} + a, part) * NAME(number)(b, part);
}
#endif
#else
#define OPERAND float
#define VO V
#define TOGETHER 1
#define PARTS 1
INLINE VO NAME(operands)(V first, V second) {
    (void)second;
    return first;
}

INLINE V NAME(add_product)(V sum, OPERAND a, VO b, int part) {
    (void)part;
    return sum + a * b;
}
#endif

INLINE VO NAME(get)(const OPERAND *p) { return *(const VO *)p; }
INLINE void NAME(put)(OPERAND *p, VO v) { *(VO *)p = v; }

/* The row of numbers that shares its operands with row k of `depth` rows, which is at `row`; null if there is none. */
INLINE const float *NAME(partner)(const float *row, n_t stride, n_t k, n_t depth) {
    return TOGETHER > 1 && k + 1 < depth ? row + stride : (const float *)0;
}

/* The left side A of a product: operand k of row i is at[i * row + k * step]. */
typedef struct {
    const OPERAND *at;
    n_t row, step;
} NAME(left);

/* Row-major numbers as a left side: themselves, or with BF16 their pairs in `buffer`, (rows, DEPTH(depth)). */
INLINE NAME(left) NAME(left_of)(const float *a, n_t a_row, n_t rows, n_t depth, float *buffer) {
#ifdef BF16
    const n_t row = 2 * DEPTH(depth), last = depth - VECTOR;
    for (n_t i = 0; i < rows; i++, a += a_row) {
        uint16_t *to = (uint16_t *)buffer + i * row;
        to[row - 1] = 0;
        for (n_t j = 0; j < last; j += VECTOR) *(NAME(vh) *)(to + j) = NAME(halves)(load(a + j));
        if (last >= 0) { /* it may overlap the one before */
            *(NAME(vh) *)(to + last) = NAME(halves)(load(a + last));
        } else {
            const NAME(vh) part = NAME(halves)(NAME(load_part)(a, 0, depth));
            __builtin_memcpy(to, &part, (size_t)depth * sizeof *to);
        }
    }
    return (NAME(left)){(const OPERAND *)buffer, DEPTH(depth), 1};
#else
    (void)rows, (void)depth, (void)buffer;
    return (NAME(left)){a, a_row, 1};
#endif
}

/* The transpose of row-major numbers as a left side: themselves, or with BF16 pairs of rows in `buffer`,
   (DEPTH(depth), columns); `columns` is a multiple of VECTOR. */
INLINE NAME(left) NAME(left_of_transpose)(const float *a, n_t columns, n_t depth, float *buffer) {
#ifdef BF16
    for (n_t k = 0; k < depth; k += 2) {
        const float *row = a + k * columns, *next = NAME(partner)(row, columns, k, depth);
        OPERAND *to = (OPERAND *)buffer + k / 2 * columns;
        for (n_t j = 0; j < columns; j += VECTOR) {
            NAME(put)(to + j, NAME(operands)(load(row + j), NAME(load_part)(next, j, columns)));
        }
    }
    return (NAME(left)){(const OPERAND *)buffer, 1, columns};
#else
    (void)depth, (void)buffer;
    return (NAME(left)){a, 1, columns};
#endif
}

/* ---- products with packed weights ---- */

/* C = (or +=) A B for `m` rows and `panels` panels, which are constants after inlining. */
INLINE void NAME(tile)(const int m, const int panels, NAME(left) a, const OPERAND *b, n_t b_panel, n_t depth, float *c,
                       n_t c_row, n_t columns, const float *bias, int add) {
    V sum[TILE_ROWS][8];
    UNROLL for (int i = 0; i < m; i++) {
        UNROLL for (int j = 0; j < 2 * panels; j++) sum[i][j] = bias ? load(bias + j * VECTOR) : (V){0};
    }
    for (n_t k = 0; k < depth; k++) {
        UNROLL for (int part = 0; part < PARTS; part++) {
            VO row[8];
            UNROLL for (int j = 0; j < 2 * panels; j++) {
                row[j] = NAME(get)(b + j / 2 * b_panel + k * PANEL + j % 2 * VECTOR);
            }
            UNROLL for (int i = 0; i < m; i++) {
                UNROLL for (int j = 0; j < 2 * panels; j++) {
                    sum[i][j] = NAME(add_product)(sum[i][j], a.at[i * a.row + k * a.step], row[j], part);
                }
            }
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
            NAME(tile)(m, WIDE(m), a, b, b_panel, depth, c, c_row, columns, bias, add);                             \
            b += WIDE(m) * b_panel, c += WIDE(m) * PANEL, bias = bias ? bias + WIDE(m) * PANEL : bias;              \
        }                                                                                                           \
        for (; columns > 0; columns -= PANEL) {                                                                     \
            NAME(tile)(m, 1, a, b, b_panel, depth, c, c_row, columns, bias, add);                                   \
            b += b_panel, c += PANEL, bias = bias ? bias + PANEL : bias;                                            \
        }                                                                                                           \
        break;

INLINE void NAME(few_rows)(n_t rows, NAME(left) a, const OPERAND *b, n_t b_panel, n_t depth, float *c, n_t c_row,
                           n_t columns, const float *bias, int add) {
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

/* C = (or +=) bias + A B: B is packed, `depth` and `b_panel` count operands. */
INLINE void NAME(multiply)(n_t rows, NAME(left) a, const OPERAND *b, n_t b_panel, n_t depth, float *c, n_t c_row,
                           n_t columns, const float *bias, int add) {
    n_t whole = rows / TILE_ROWS * TILE_ROWS;
    const OPERAND *at = a.at;
    if (whole) {
        const OPERAND *panel = b;
        for (n_t j = 0; j < columns; j += PANEL, panel += b_panel) {
            for (n_t i = 0; i < whole; i += TILE_ROWS) {
                a.at = at + i * a.row;
                NAME(tile)(TILE_ROWS, 1, a, panel, b_panel, depth, c + i * c_row + j, c_row, columns - j,
                           bias ? bias + j : bias, add);
            }
        }
    }
    a.at = at + whole * a.row;
    NAME(few_rows)(rows - whole, a, b, b_panel, depth, c + whole * c_row, c_row, columns, bias, add);
}

/* A product with a row-major A, whose operands are side by side. */
static void NAME(product)(n_t rows, NAME(left) a, const OPERAND *b, n_t b_panel, n_t depth, float *c, n_t c_row,
                          n_t columns, const float *bias, int add) {
    a.step = 1;
    NAME(multiply)(rows, a, b, b_panel, depth, c, c_row, columns, bias, add);
}

/* A product with a transposed A, packed: TILE_ROWS operands of a column side by side. */
static void NAME(product_packed)(n_t rows, const OPERAND *a, const OPERAND *b, n_t b_panel, n_t depth, float *c,
                                 n_t c_row, n_t columns, int add) {
    const NAME(left) left = {a, 1, TILE_ROWS};
    NAME(multiply)(rows, left, b, b_panel, depth, c, c_row, columns, (const float *)0, add);
}

/* Panel `number` of (depth, 3 hidden) weights. */
static void NAME(pack)(float *packed, const float *weights, n_t depth, n_t hidden, n_t width, n_t number) {
    OPERAND *to = (OPERAND *)packed + number * PANEL * DEPTH(depth);
    for (n_t j = 0; j < PANEL; j += VECTOR) { /* a vector of columns belongs to one gate */
        n_t gate = (number * PANEL + j) / width, unit = (number * PANEL + j) % width;
        n_t real = gate < 3 ? hidden - unit : 0;
        for (n_t k = 0; k < depth; k += TOGETHER) {
            const float *row = weights + k * 3 * hidden + gate * hidden + unit;
            const float *next = NAME(partner)(row, 3 * hidden, k, depth);
            NAME(put)(to + k / TOGETHER * PANEL + j,
                      NAME(operands)(NAME(load_part)(row, 0, real), NAME(load_part)(next, 0, real)));
        }
    }
}

/* Panel `number` of the transpose of (columns, 3 hidden) weights. */
static void NAME(pack_transposed)(float *packed, const float *weights, n_t columns, n_t hidden, n_t width,
                                  n_t number) {
    OPERAND *to = (OPERAND *)packed + number * PANEL * DEPTH(3 * width);
    n_t real = columns - number * PANEL;
    for (n_t gate = 0; gate < 3; gate++) {
        for (n_t unit = 0; unit < width; unit += TOGETHER, to += PANEL) {
            const float *from = weights + number * PANEL * 3 * hidden + gate * hidden + unit;
            float row[TOGETHER][PANEL];
            for (n_t i = 0; i < TOGETHER; i++) {
                const n_t columns_here = unit + i < hidden ? real : 0;
                for (n_t j = 0; j < PANEL; j++) row[i][j] = j < columns_here ? from[j * 3 * hidden + i] : 0.0f;
            }
            for (n_t j = 0; j < PANEL; j += VECTOR) {
                NAME(put)(to + j, NAME(operands)(load(row[0] + j), load(row[TOGETHER - 1] + j)));
            }
        }
    }
}

/* ---- the peak of the instruction set ---- */

/* As many sums as a tile has, of operands that stay in registers; returns the number of operations. */
static n_t NAME(peak)(float *numbers, n_t rounds) {
    V sum[2 * TILE_ROWS];
    const V a = load(numbers), b = load(numbers + VECTOR);
    UNROLL for (int i = 0; i < 2 * TILE_ROWS; i++) sum[i] = load(numbers + i);
    for (n_t round = 0; round < rounds; round++) {
#ifdef DOT
        UNROLL for (int i = 0; i < 2 * TILE_ROWS; i++) sum[i] = DOT(sum[i], a, b);
#else
        UNROLL for (int i = 0; i < 2 * TILE_ROWS; i++) sum[i] = sum[i] * a + b;
#endif
    }
    UNROLL for (int i = 0; i < 2 * TILE_ROWS; i++) store(numbers, load(numbers) + sum[i]);
#ifdef DOT
    return rounds * 2 * TILE_ROWS * VECTOR * 4;
#else
    return rounds * 2 * TILE_ROWS * VECTOR * 2;
#endif
}
