/* Checks gated attention against a plain loop in double precision: its results with that loop, its gradients with the
   loop's differences along random directions. */
#include "attention.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

enum { DOCUMENT, QUERY, PARAMETERS };

static const char *const NAMES[PARAMETERS] = {"d_document", "d_query"};

/* The largest errors, of outputs, of α, and of slopes relative to the gradient; bf16 has 8 significant bits. */
static const double OUT_ERROR[PRECISIONS] = {1e-5, 5e-2}, ALPHA_ERROR[PRECISIONS] = {1e-6, 1e-2};
static const double SLOPE_ERROR[PRECISIONS] = {3e-5, 4e-2};

typedef struct {
    gate_shape shape;
    n_t size[PARAMETERS], alpha_size;
    float *parameter[PARAMETERS], *d_out;
    double *exact[PARAMETERS]; /* the values in double precision */
    uint8_t *mask;
    int16_t *draws; /* or null */
} case_t;

static case_t make_case(gate_shape shape, int masked) {
    const n_t tokens = shape.batch * shape.tokens, words = shape.batch * shape.asked;
    case_t c = {.shape = shape, .size = {tokens * shape.width, words * shape.width}};
    c.alpha_size = tokens * gate_columns(shape.asked);
    for (int p = 0; p < PARAMETERS; p++) {
        c.parameter[p] = floats(c.size[p]), c.exact[p] = doubles(c.size[p]);
        const double scale = p == QUERY ? 1.0 : 1.0 / sqrt((double)shape.width);
        for (n_t i = 0; i < c.size[p]; i++) c.exact[p][i] = c.parameter[p][i] = (float)(scale * normal());
    }
    c.d_out = floats(c.size[DOCUMENT]);
    for (n_t i = 0; i < c.size[DOCUMENT]; i++) c.d_out[i] = (float)normal();
    c.mask = array(words, 1);
    for (n_t i = 0; i < words; i++) c.mask[i] = !masked || i % shape.asked == 0 || uniform() < 0.6;
    c.draws = shape.dropped ? array(c.size[DOCUMENT], sizeof(int16_t)) : NULL;
    for (n_t i = 0; c.draws && i < c.size[DOCUMENT]; i++) c.draws[i] = (int16_t)(uniform() * 65536.0 - 32768.0);
    return c;
}

static void free_case(case_t *c) {
    for (int p = 0; p < PARAMETERS; p++) free(c->parameter[p]), free(c->exact[p]);
    free(c->d_out), free(c->mask), free(c->draws);
}

static void plain_forward(const case_t *c, double *const parameter[PARAMETERS], double *alpha, double *out) {
    const n_t tokens = c->shape.tokens, asked = c->shape.asked, width = c->shape.width;
    for (n_t token = 0; token < c->shape.batch * tokens; token++) {
        const double *d = parameter[DOCUMENT] + token * width, *q = parameter[QUERY] + token / tokens * asked * width;
        const uint8_t *mask = c->mask + token / tokens * asked;
        double *a = alpha + token * gate_columns(asked), sum = 0.0;
        for (n_t word = 0; word < gate_columns(asked); word++) {
            double score = 0.0;
            for (n_t j = 0; word < asked && j < width; j++) score += d[j] * q[word * width + j];
            sum += a[word] = word < asked && mask[word] ? exp(score) : 0.0;
        }
        for (n_t word = 0; word < asked; word++) a[word] /= sum;
        for (n_t j = 0; j < width; j++) {
            double view = 0.0;
            for (n_t word = 0; word < asked; word++) view += a[word] * q[word * width + j];
            const n_t i = token * width + j;
            const double scale = 65536.0 / (65536.0 - (double)c->shape.dropped);
            out[i] = c->draws && c->draws[i] < c->shape.dropped - 32768 ? 0.0 : scale * d[j] * view;
        }
    }
}

/* The derivative of Σ d_out ⊙ out along a direction of one parameter. */
static double plain_slope(const case_t *c, int p, const double *direction) {
    const double step = 1e-5;
    double *out = doubles(c->size[DOCUMENT]), *alpha = doubles(c->alpha_size), *moved = doubles(c->size[p]);
    double *parameter[PARAMETERS] = {c->exact[DOCUMENT], c->exact[QUERY]}, slope = 0.0;
    parameter[p] = moved;
    for (int sign = -1; sign <= 1; sign += 2) {
        for (n_t i = 0; i < c->size[p]; i++) moved[i] = c->exact[p][i] + sign * step * direction[i];
        plain_forward(c, parameter, alpha, out);
        for (n_t i = 0; i < c->size[DOCUMENT]; i++) slope += sign * out[i] * c->d_out[i] / (2.0 * step);
    }
    free(out), free(alpha), free(moved);
    return slope;
}

typedef struct {
    float *out, *alpha, *gradient[PARAMETERS];
    int failed;
} result_t;

static result_t run(const case_t *c, n_t set, n_t precision, n_t threads) {
    gate_shape shape = c->shape;
    shape.instruction_set = set, shape.precision = precision, shape.threads = threads;
    shape.out_row = shape.width + (threads == 1 ? 2 : 0); /* with room for two floats, or without */
    const n_t tokens = shape.batch * shape.tokens;
    float *const *p = c->parameter;
    float *out = floats(tokens * shape.out_row);
    result_t r = {.out = floats(c->size[DOCUMENT]), .alpha = floats(c->alpha_size)};
    for (int i = 0; i < PARAMETERS; i++) r.gradient[i] = floats(c->size[i]);
    r.failed = gate_forward(&shape, p[DOCUMENT], p[QUERY], c->mask, c->draws, r.alpha, out);
    for (n_t i = 0; i < tokens; i++) {
        for (n_t j = 0; j < shape.width; j++) r.out[i * shape.width + j] = out[i * shape.out_row + j];
        for (n_t j = shape.width; j < shape.out_row; j++) r.failed |= !isnan(out[i * shape.out_row + j]);
    }
    free(out);
    if (!r.failed) {
        r.failed = gate_backward(&shape, p[DOCUMENT], p[QUERY], c->mask, c->draws, r.alpha, c->d_out,
                                 r.gradient[DOCUMENT], r.gradient[QUERY]);
    }
    return r;
}

static void free_result(result_t *r) {
    free(r->out), free(r->alpha);
    for (int p = 0; p < PARAMETERS; p++) free(r->gradient[p]);
}

static void expect(int good, const case_t *c, n_t set, n_t precision, const char *what, double by) {
    const gate_shape *s = &c->shape;
    if (count_check(good)) return;
    printf("%s, %s, attention, batch %ld, tokens %ld, asked %ld, width %ld, dropped %ld: %s (%g)\n",
           gru_instruction_set(set), PRECISION_NAMES[precision], (long)s->batch, (long)s->tokens, (long)s->asked,
           (long)s->width, (long)s->dropped, what, by);
}

/* One instruction set in one precision, against the plain loop's results and slopes along directions. */
static void check_kernel(const case_t *c, n_t set, n_t precision, const double *out, const double *alpha,
                         double *const direction[PARAMETERS], const double slope[PARAMETERS]) {
    result_t one = run(c, set, precision, 1), three = run(c, set, precision, 3);
    expect(!one.failed, c, set, precision, "an error", one.failed);
    const double off = largest_error(one.out, out, c->size[DOCUMENT]);
    expect(off <= OUT_ERROR[precision], c, set, precision, "out is off", off);
    const double turned = largest_error(one.alpha, alpha, c->alpha_size);
    expect(turned <= ALPHA_ERROR[precision], c, set, precision, "alpha is off", turned);
    int same = same_floats(one.out, three.out, c->size[DOCUMENT]) && same_floats(one.alpha, three.alpha, c->alpha_size);
    for (int p = 0; p < PARAMETERS; p++) {
        const double error = slope_error(one.gradient[p], direction[p], slope[p], c->size[p]);
        expect(error <= SLOPE_ERROR[precision], c, set, precision, NAMES[p], error);
        same &= same_floats(one.gradient[p], three.gradient[p], c->size[p]);
    }
    expect(same, c, set, precision, "three threads differ from one", 0.0);
    free_result(&one), free_result(&three);
}

static void check_case(const case_t *c) {
    double *out = doubles(c->size[DOCUMENT]), *alpha = doubles(c->alpha_size), *direction[PARAMETERS];
    double slope[PARAMETERS];
    plain_forward(c, c->exact, alpha, out);
    for (int p = 0; p < PARAMETERS; p++) {
        direction[p] = doubles(c->size[p]);
        for (n_t i = 0; i < c->size[p]; i++) direction[p][i] = normal();
        slope[p] = plain_slope(c, p, direction[p]);
    }
    for (n_t set = 0; gru_instruction_set(set); set++) {
        for (n_t precision = 0; precision < PRECISIONS; precision++) {
            check_kernel(c, set, precision, out, alpha, direction, slope);
        }
    }
    result_t wrong = run(c, 99, FLOAT32, 1), coarse = run(c, 0, PRECISIONS, 1);
    expect(wrong.failed == GRU_NO_SUCH_SET, c, 0, FLOAT32, "an unknown instruction set passed", 99);
    expect(coarse.failed == GRU_NO_SUCH_SET, c, 0, FLOAT32, "an unknown precision passed", PRECISIONS);
    free_result(&wrong), free_result(&coarse), free(out), free(alpha);
    for (int p = 0; p < PARAMETERS; p++) free(direction[p]);
}

void check_attention(void) {
    static const gate_shape SHAPES[] = {
        {.batch = 1, .tokens = 1, .asked = 1, .width = 1},
        {.batch = 3, .tokens = 5, .asked = 4, .width = 6},
        {.batch = 2, .tokens = 64, .asked = 32, .width = 32},
        {.batch = 2, .tokens = 65, .asked = 33, .width = 33},
        {.batch = 1, .tokens = 200, .asked = 27, .width = 62}, /* several blocks of tokens, several parts */
        {.batch = 5, .tokens = 9, .asked = 70, .width = 130},
        {.batch = 2, .tokens = 0, .asked = 3, .width = 4},
        {.batch = 0, .tokens = 5, .asked = 3, .width = 4},
    };
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        for (int variant = 0; variant < 4; variant++) {
            gate_shape shape = SHAPES[i];
            shape.dropped = variant % 2 ? 26214 : 0;
            case_t c = make_case(shape, variant / 2);
            check_case(&c);
            free_case(&c);
        }
    }
}
