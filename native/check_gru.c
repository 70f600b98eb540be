/* Checks the GRU against a plain loop in double precision: its results with that loop, its gradients with the loop's
   differences along random directions. */
#include "gru.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { PAPER = 0, CUDNN = 1 };
enum { X, W, U, BIAS, PARAMETERS };
enum { FULL, PREFIX, HOLES, MASKS };
enum { TWO = 2, ROUNDS = 20, TOGETHER = 19 };

static const char *const NAMES[PARAMETERS] = {"d_x", "d_w", "d_u", "d_bias"};

/* The largest errors, of states and of slopes relative to the gradient; bf16 has 8 significant bits. */
static const double OUT_ERROR[PRECISIONS] = {1e-5, 2e-2}, SLOPE_ERROR[PRECISIONS] = {3e-5, 4e-2};

/* ---- cases ---- */

typedef struct {
    gru_shape shape;
    n_t size[PARAMETERS], out_size, tokens;
    float *parameter[PARAMETERS], *d_out;
    double *exact[PARAMETERS]; /* the values in double precision */
    int64_t *words;            /* or null */
    uint8_t *mask;
    n_t mask_kind;
} case_t;

static case_t make_case(gru_shape shape, int with_words, n_t mask_kind) {
    const n_t tokens = shape.batch * shape.steps, columns = 2 * 3 * shape.hidden;
    if (!with_words) shape.rows = tokens;
    case_t c = {.shape = shape, .tokens = tokens, .out_size = tokens * 2 * shape.hidden, .mask_kind = mask_kind};
    c.size[X] = shape.rows * shape.inputs;
    c.size[W] = shape.inputs * columns;
    c.size[U] = shape.hidden * columns;
    c.size[BIAS] = columns;
    for (int p = 0; p < PARAMETERS; p++) {
        c.parameter[p] = floats(c.size[p]), c.exact[p] = doubles(c.size[p]);
        const n_t depth = p == W ? shape.inputs : shape.hidden;
        const double scale = p == X ? 1.0 : p == BIAS ? 0.5 : 0.7 / sqrt((double)depth);
        for (n_t i = 0; i < c.size[p]; i++) c.exact[p][i] = c.parameter[p][i] = (float)(scale * normal());
    }
    c.d_out = floats(c.out_size);
    for (n_t i = 0; i < c.out_size; i++) c.d_out[i] = (float)normal();
    c.words = with_words ? array(tokens, sizeof(int64_t)) : NULL;
    for (n_t i = 0; with_words && i < tokens; i++) c.words[i] = (int64_t)(uniform() * (double)shape.rows);
    c.mask = array(tokens, 1);
    for (n_t row = 0; row < shape.batch; row++) {
        const n_t length = (n_t)(uniform() * (double)(shape.steps + 1)); /* 0: a row without tokens */
        for (n_t step = 0; step < shape.steps; step++) {
            c.mask[row * shape.steps + step] = mask_kind == FULL     ? 1
                                               : mask_kind == PREFIX ? step < length
                                                                     : uniform() < 0.6;
        }
    }
    return c;
}

static void free_case(case_t *c) {
    for (int p = 0; p < PARAMETERS; p++) free(c->parameter[p]), free(c->exact[p]);
    free(c->d_out), free(c->words), free(c->mask);
}

/* ---- the plain loop ---- */

static double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

/* Σ_k h_k U_kj */
static double recurrent(const double *u, const double *h, n_t hidden, n_t j) {
    double sum = 0.0;
    for (n_t k = 0; k < hidden; k++) sum += h[k] * u[k * 3 * hidden + j];
    return sum;
}

/* One step: h becomes the next state; `a` is scratch for W x + b. */
static void plain_step(const case_t *c, const double *x, const double *w, const double *u, const double *bias,
                       double *h, double *a) {
    const n_t inputs = c->shape.inputs, hidden = c->shape.hidden;
    double *r = a, *z = a + hidden, *candidate = a + 2 * hidden, *reset = a + 3 * hidden;
    for (n_t j = 0; j < 3 * hidden; j++) {
        a[j] = bias[j];
        for (n_t k = 0; k < inputs; k++) a[j] += x[k] * w[k * 3 * hidden + j];
    }
    for (n_t j = 0; j < 2 * hidden; j++) a[j] = sigmoid(a[j] + recurrent(u, h, hidden, j));
    for (n_t j = 0; j < hidden; j++) reset[j] = r[j] * h[j];
    for (n_t j = 0; j < hidden; j++) {
        candidate[j] += c->shape.cell == PAPER ? recurrent(u, reset, hidden, 2 * hidden + j)
                                               : r[j] * recurrent(u, h, hidden, 2 * hidden + j);
    }
    for (n_t j = 0; j < hidden; j++) {
        const double update = c->shape.cell == PAPER ? z[j] : 1.0 - z[j];
        h[j] = (1.0 - update) * h[j] + update * tanh(candidate[j]);
    }
}

static void plain_forward(const case_t *c, double *const parameter[PARAMETERS], double *out) {
    const n_t steps = c->shape.steps, inputs = c->shape.inputs, hidden = c->shape.hidden;
    double *h = doubles(hidden), *a = doubles(4 * hidden);
    for (n_t direction = 0; direction < 2; direction++) {
        for (n_t row = 0; row < c->shape.batch; row++) {
            for (n_t j = 0; j < hidden; j++) h[j] = 0.0;
            for (n_t step = 0; step < steps; step++) {
                const n_t token = row * steps + (direction ? steps - 1 - step : step);
                const n_t x_row = c->words ? c->words[token] : token;
                if (c->mask[token]) {
                    plain_step(c, parameter[X] + x_row * inputs, parameter[W] + direction * inputs * 3 * hidden,
                               parameter[U] + direction * hidden * 3 * hidden, parameter[BIAS] + direction * 3 * hidden,
                               h, a);
                }
                for (n_t j = 0; j < hidden; j++) {
                    out[(token * 2 + direction) * hidden + j] = c->mask[token] ? h[j] : 0.0;
                }
            }
        }
    }
    free(h), free(a);
}

/* The derivative of Σ d_out ⊙ out along a direction of one parameter. */
static double plain_slope(const case_t *c, int p, const double *direction) {
    const double step = 1e-5;
    double *out = doubles(c->out_size), *moved = doubles(c->size[p]), slope = 0.0;
    double *parameter[PARAMETERS] = {c->exact[X], c->exact[W], c->exact[U], c->exact[BIAS]};
    parameter[p] = moved;
    for (int sign = -1; sign <= 1; sign += 2) {
        for (n_t i = 0; i < c->size[p]; i++) moved[i] = c->exact[p][i] + sign * step * direction[i];
        plain_forward(c, parameter, out);
        for (n_t i = 0; i < c->out_size; i++) slope += sign * out[i] * c->d_out[i] / (2.0 * step);
    }
    free(out), free(moved);
    return slope;
}

/* ---- the kernel ---- */

typedef struct {
    float *out, *gradient[PARAMETERS]; /* gradient[X] may be null */
    int failed;
} result_t;

static result_t run(const case_t *c, n_t set, n_t precision, n_t threads, int with_d_x) {
    gru_shape shape = c->shape;
    shape.instruction_set = set, shape.precision = precision, shape.threads = threads;
    float *const *p = c->parameter, *gates = floats(gru_gates_size(&shape));
    result_t result = {.out = floats(c->out_size)};
    for (int i = with_d_x ? X : W; i < PARAMETERS; i++) result.gradient[i] = floats(c->size[i]);
    float **d = result.gradient;
    result.failed = gru_forward(&shape, p[X], c->words, c->mask, p[W], p[U], p[BIAS], result.out, gates);
    if (!result.failed) {
        result.failed = gru_backward(&shape, p[X], c->words, c->mask, p[W], p[U], result.out, gates, c->d_out, d[X],
                                     d[W], d[U], d[BIAS]);
    }
    free(gates);
    return result;
}

static void free_result(result_t *result) {
    free(result->out);
    for (int p = 0; p < PARAMETERS; p++) free(result->gradient[p]);
}

/* Compare bit for bit; a gradient that is null in one of them is not compared. */
static int same_results(const case_t *c, const result_t *a, const result_t *b) {
    int same = a->failed == b->failed && same_floats(a->out, b->out, c->out_size);
    for (int p = 0; p < PARAMETERS; p++) {
        if (a->gradient[p] && b->gradient[p]) same &= same_floats(a->gradient[p], b->gradient[p], c->size[p]);
    }
    return same;
}

/* ---- checks ---- */

static void expect(int good, const case_t *c, n_t set, n_t precision, const char *what, double by) {
    static const char *const cells[] = {"paper", "cudnn"}, *const masks[] = {"full", "prefix", "holes"};
    const gru_shape *s = &c->shape;
    if (count_check(good)) return;
    printf("%s, %s, %s, batch %ld, steps %ld, inputs %ld, hidden %ld, %ld rows%s, mask %s: %s (%g)\n",
           gru_instruction_set(set), PRECISION_NAMES[precision], cells[s->cell], (long)s->batch, (long)s->steps,
           (long)s->inputs, (long)s->hidden, (long)s->rows, c->words ? " of words" : "", masks[c->mask_kind], what, by);
}

/* One instruction set in one precision, against the plain loop's results and slopes along directions. */
static void check_kernel(const case_t *c, n_t set, n_t precision, const double *out,
                         double *const direction[PARAMETERS], const double slope[PARAMETERS]) {
    result_t one = run(c, set, precision, 1, 1), three = run(c, set, precision, 3, 1);
    result_t fewer = run(c, set, precision, 3, 0);
    expect(!one.failed, c, set, precision, "an error", one.failed);
    const double worst = largest_error(one.out, out, c->out_size);
    expect(worst <= OUT_ERROR[precision], c, set, precision, "out is off", worst);
    for (int p = 0; p < PARAMETERS; p++) {
        const double error = slope_error(one.gradient[p], direction[p], slope[p], c->size[p]);
        expect(error <= SLOPE_ERROR[precision], c, set, precision, NAMES[p], error);
    }
    expect(same_results(c, &one, &three), c, set, precision, "three threads differ from one", 0.0);
    expect(same_results(c, &three, &fewer), c, set, precision, "without d_x the rest differs", 0.0);

    gru_shape shape = c->shape;
    shape.instruction_set = set, shape.precision = precision, shape.threads = 3;
    float *alone = floats(c->out_size);
    gru_forward(&shape, c->parameter[X], c->words, c->mask, c->parameter[W], c->parameter[U], c->parameter[BIAS], alone,
                NULL);
    expect(same_floats(one.out, alone, c->out_size), c, set, precision, "without gates out differs", 0.0);
    free(alone), free_result(&one), free_result(&three), free_result(&fewer);
}

static void check_case(const case_t *c) {
    double *out = doubles(c->out_size), *direction[PARAMETERS], slope[PARAMETERS];
    plain_forward(c, c->exact, out);
    for (int p = 0; p < PARAMETERS; p++) {
        direction[p] = doubles(c->size[p]);
        for (n_t i = 0; i < c->size[p]; i++) direction[p][i] = normal();
        slope[p] = plain_slope(c, p, direction[p]);
    }
    for (n_t set = 0; gru_instruction_set(set); set++) {
        for (n_t precision = 0; precision < PRECISIONS; precision++) {
            check_kernel(c, set, precision, out, direction, slope);
        }
    }
    free(out);
    for (int p = 0; p < PARAMETERS; p++) free(direction[p]);
}

/* Several cases with packed weights side by side, as often as it takes for more than fit together. */
static void check_together(const case_t *cases, n_t count, n_t set, n_t precision, n_t threads) {
    gru_reading readings[TOGETHER];
    float *packed[TOGETHER], *out[TOGETHER];
    for (n_t i = 0; i < TOGETHER; i++) {
        const case_t *c = &cases[i % count];
        gru_shape shape = c->shape;
        shape.instruction_set = set, shape.precision = precision, shape.threads = threads;
        packed[i] = floats(gru_packed_size(&shape)), out[i] = floats(c->out_size);
        gru_pack(&shape, c->parameter[W], c->parameter[U], c->parameter[BIAS], packed[i]);
        readings[i] = (gru_reading){shape, c->parameter[X], c->words, c->mask, packed[i], out[i]};
    }
    const int failed = gru_read(readings, TOGETHER);
    expect(!failed, cases, set, precision, "an error of several together", failed);
    for (n_t i = 0; i < TOGETHER; i++) {
        result_t alone = run(&cases[i % count], set, precision, 1, 0);
        expect(same_floats(alone.out, out[i], cases[i % count].out_size), &cases[i % count], set, precision,
               "together out differs", (double)i);
        free_result(&alone), free(packed[i]), free(out[i]);
    }
    if (cases->words) {
        const int64_t word = cases->words[0];
        cases->words[0] = cases->shape.rows;
        expect(gru_read(readings, 1) == GRU_NO_SUCH_ROW, cases, set, precision, "a word out of range passed together",
               0.0);
        cases->words[0] = word;
    }
    readings[0].shape.instruction_set = 99;
    expect(gru_read(readings, 1) == GRU_NO_SUCH_SET, cases, set, precision,
           "an unknown instruction set passed together", 99);
}

/* In bf16, all instruction sets against the emulation. With one token the states are one product and gates, so they
   differ by the rounding of sums; gradients may also have another bf16 number of two that are as near. Instructions for
   pairs take subnormal numbers as zero. */
static void check_emulation(void) {
    enum { EVERY = 7 };
    case_t c = make_case((gru_shape){.batch = 5, .steps = 1, .inputs = 75, .hidden = 33}, 0, FULL);
    for (n_t i = 0; i < c.size[X]; i += EVERY) c.parameter[X][i] = 1e-40f;
    n_t last = 0;
    while (gru_instruction_set(last + 1)) last++; /* plain */
    result_t emulated = run(&c, last, BFLOAT16, 1, 1);
    double *out = doubles(c.out_size), *d_w = doubles(c.size[W]);
    for (n_t i = 0; i < c.out_size; i++) out[i] = emulated.out[i];
    for (n_t i = 0; i < c.size[W]; i++) d_w[i] = emulated.gradient[W][i];
    for (n_t set = 0; set < last; set++) {
        result_t found = run(&c, set, BFLOAT16, 1, 1);
        const double off = largest_error(found.out, out, c.out_size);
        expect(off <= 1e-6, &c, set, BFLOAT16, "out is not the emulation's", off);
        const double turned = largest_error(found.gradient[W], d_w, c.size[W]);
        expect(turned <= 1e-2, &c, set, BFLOAT16, "d_w is not the emulation's", turned);
        free_result(&found);
    }
    free(out), free(d_w), free_result(&emulated), free_case(&c);
}

/* Words, instruction sets and precisions that do not exist. */
static void check_errors(const case_t *c) {
    const n_t last = c->tokens - 1, word = c->words[last];
    const int64_t wrong[] = {-1, c->shape.rows, INT64_MAX, INT64_MIN};
    for (int i = 0; i < 4; i++) {
        c->words[last] = wrong[i];
        result_t result = run(c, 0, FLOAT32, 1, 1);
        expect(result.failed == GRU_NO_SUCH_ROW, c, 0, FLOAT32, "a word out of range passed", (double)wrong[i]);
        free_result(&result);
    }
    c->words[last] = word;
    const n_t unknown[][2] = {{99, FLOAT32}, {99, BFLOAT16}, {0, PRECISIONS}, {0, -1}};
    for (int i = 0; i < 4; i++) {
        result_t result = run(c, unknown[i][0], unknown[i][1], 1, 1);
        expect(result.failed == GRU_NO_SUCH_SET, c, 0, FLOAT32, "an unknown set or precision passed", i);
        free_result(&result);
    }
}

typedef struct {
    const case_t *c;
    n_t precision, threads;
    pthread_barrier_t *start;
    result_t results[ROUNDS];
} caller_t;

static void *call_often(void *context) {
    caller_t *caller = context;
    pthread_barrier_wait(caller->start);
    for (int round = 0; round < ROUNDS; round++) {
        caller->results[round] = run(caller->c, 0, caller->precision, caller->threads, 1);
    }
    return NULL;
}

/* Two threads make the first calls at the same time, so that both allocate memory and start threads. */
static void check_callers(const case_t *a, const case_t *b) {
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, TWO);
    caller_t callers[TWO] = {{.c = a, .precision = FLOAT32, .threads = 3, .start = &start},
                             {.c = b, .precision = BFLOAT16, .threads = 1, .start = &start}};
    pthread_t threads[TWO];
    for (int i = 0; i < TWO; i++) {
        if (pthread_create(&threads[i], NULL, call_often, &callers[i]) != 0) abort();
    }
    for (int i = 0; i < TWO; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
    for (int i = 0; i < TWO; i++) {
        result_t alone = run(callers[i].c, 0, callers[i].precision, 1, 1);
        long different = 0;
        for (int round = 0; round < ROUNDS; round++) {
            different += !same_results(callers[i].c, &callers[i].results[round], &alone);
            free_result(&callers[i].results[round]);
        }
        expect(different == 0, callers[i].c, 0, callers[i].precision, "two callers disturb each other",
               (double)different);
        free_result(&alone);
    }
}

#ifdef __SANITIZE_THREAD__
#define THREAD_SANITIZER
#elif defined(__has_feature) /* clang */
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER
#endif
#endif

/* A forked child has none of the threads of its parent; the kernel must work there. */
static void check_fork(const case_t *c) {
#ifndef THREAD_SANITIZER /* it forbids threads in a child of a process with threads */
    result_t before = run(c, 0, FLOAT32, 3, 1);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        result_t after = run(c, 0, FLOAT32, 3, 1);
        _exit(!same_results(c, &before, &after));
    }
    int status = -1;
    waitpid(child, &status, 0);
    expect(status == 0, c, 0, FLOAT32, "a forked process fails", status);
    free_result(&before);
#else
    (void)c;
#endif
}

static const gru_shape SHAPES[] = {
    {.batch = 1, .steps = 1, .inputs = 1, .hidden = 1, .rows = 1},
    {.batch = 2, .steps = 3, .inputs = 5, .hidden = 4, .rows = 9},
    {.batch = 7, .steps = 12, .inputs = 33, .hidden = 31, .rows = 40},
    {.batch = 8, .steps = 5, .inputs = 16, .hidden = 32, .rows = 20},
    {.batch = 9, .steps = 90, .inputs = 7, .hidden = 6, .rows = 70},    /* several blocks of steps */
    {.batch = 1, .steps = 270, .inputs = 3, .hidden = 5, .rows = 30},   /* several blocks of steps of one row */
    {.batch = 3, .steps = 3, .inputs = 330, .hidden = 8, .rows = 5},    /* more than BLOCK_DEPTH */
    {.batch = 41, .steps = 2, .inputs = 130, .hidden = 7, .rows = 300}, /* BLOCK_WEIGHTS, BLOCK_TOKENS, SUMMED_ROWS */
    {.batch = 5, .steps = 3, .inputs = 9, .hidden = 65, .rows = 4},
    {.batch = 2, .steps = 2, .inputs = 3, .hidden = 130, .rows = 3},
    {.batch = 3, .steps = 0, .inputs = 2, .hidden = 3, .rows = 2},
    {.batch = 0, .steps = 3, .inputs = 9, .hidden = 40, .rows = 2},
};

void check_gru(void) {
    gru_shape large = SHAPES[2], small = SHAPES[1];
    large.batch = 30, small.cell = CUDNN;
    case_t a = make_case(large, 1, HOLES), b = make_case(small, 0, PREFIX);
    check_callers(&a, &b);
    check_errors(&a);
    check_fork(&a);
    check_emulation();
    for (n_t set = 0; gru_instruction_set(set); set++) {
        for (n_t precision = 0; precision < PRECISIONS; precision++) {
            check_together((case_t[]){a, b}, 2, set, precision, 1);
            check_together((case_t[]){a, b}, 2, set, precision, 3);
        }
    }
    free_case(&a), free_case(&b);
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        for (n_t variant = 0; variant < 2 * 2 * MASKS; variant++) {
            gru_shape shape = SHAPES[i];
            shape.cell = variant % 2;
            case_t c = make_case(shape, variant / 2 % 2, variant / 4);
            check_case(&c);
            free_case(&c);
        }
    }
}
