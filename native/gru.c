/* A bidirectional GRU over a batch of sequences, forward and backward: the C interface and the division into tasks. */
#include "gru.h"

#include <stddef.h>

#include "kernels.h"
#include "memory.h"
#include "pool.h"

/* ---- tasks ---- */

enum {
    SLICES = 8,      /* least number of slices of a batch, if each has */
    SLICE_ROWS = 4,  /* at least this many rows */
    MOST_GROUPS = 8, /* groups of slices; each has its own weight gradients, which are summed at the end */
    SUMMED_ROWS = 64, /* rows of the table's gradient in one task */
    MOST_TOGETHER = 16 /* jobs of gru_read that run side by side */
};

typedef struct {
    gru_t g;
    const kernels_t *kernels;
    const float *w, *u, *bias;
    n_t w_panels, u_panels;   /* of one direction */
    n_t slices, groups;       /* a slice is the rows of one kernel call, a group the slices of one task */
    float *d_weights;         /* (groups, 2, inputs + hidden + 1, 3 width) */
    float *d_w, *d_u, *d_bias;
    float *d_table;           /* with words: (2, rows, 3 width) */
    int64_t *uses, *first_use; /* with words: real tokens sorted by word, and the first one of each word (rows + 1) */
    float *scratch;
    n_t scratch_size; /* of one worker */
} job_t;

/* Floats of memory for the operands of n rows of packed weights with one column. */
static n_t operands(const job_t *job, n_t n) { return blocks(n, job->kernels->together); }

/* Columns of one panel of the biases, in float32 always. */
static void pack_bias(const job_t *job, n_t direction, n_t panel) {
    const gru_t *g = &job->g;
    for (n_t column = panel * job->kernels->panel; column < (panel + 1) * job->kernels->panel; column++) {
        const n_t gate = column / g->width, unit = column % g->width;
        g->packed_bias[direction * 3 * g->width + column] =
            unit < g->hidden ? job->bias[(direction * 3 + gate) * g->hidden + unit] : 0.0f;
    }
}

static void pack_task(void *context, long task, long worker) {
    job_t *job = context;
    const gru_t *g = &job->g;
    const n_t direction = task % 2, panel = task / 2, columns = 3 * g->hidden;
    (void)worker;
    if (panel < job->w_panels) {
        job->kernels->pack(g->packed_w + direction * 3 * g->width * operands(job, g->inputs),
                           job->w + direction * g->inputs * columns, g->inputs, g->hidden, g->width, panel);
        pack_bias(job, direction, panel);
    } else {
        job->kernels->pack(g->packed_u + direction * 3 * g->width * operands(job, g->hidden),
                           job->u + direction * g->hidden * columns, g->hidden, g->hidden, g->width,
                           panel - job->w_panels);
    }
}

static void pack_transposed_task(void *context, long task, long worker) {
    job_t *job = context;
    const gru_t *g = &job->g;
    const n_t direction = task % 2, panel = task / 2, columns = 3 * g->hidden, depth = operands(job, 3 * g->width);
    const n_t w_columns = job->w_panels * job->kernels->panel;
    (void)worker;
    if (panel < job->w_panels) {
        job->kernels->pack_transposed(g->packed_w + direction * w_columns * depth,
                                      job->w + direction * g->inputs * columns, g->inputs, g->hidden, g->width, panel);
    } else {
        job->kernels->pack_transposed(g->packed_u + direction * g->width * depth,
                                      job->u + direction * g->hidden * columns, g->hidden, g->hidden, g->width,
                                      panel - job->w_panels);
    }
}

static void forward_task(void *context, long task, long worker) {
    const job_t *job = context;
    const n_t slice = task / 2;
    job->kernels->forward(&job->g, task % 2, job->g.batch * slice / job->slices,
                          job->g.batch * (slice + 1) / job->slices, job->scratch + worker * job->scratch_size);
}

static void backward_task(void *context, long task, long worker) {
    const job_t *job = context;
    const n_t group = task / 2, size = (job->g.inputs + job->g.hidden + 1) * 3 * job->g.width;
    float *d_weights = job->d_weights + task * size;
    for (n_t i = 0; i < size; i++) d_weights[i] = 0.0f;
    for (n_t slice = job->slices * group / job->groups; slice < job->slices * (group + 1) / job->groups; slice++) {
        job->kernels->backward(&job->g, task % 2, job->g.batch * slice / job->slices,
                               job->g.batch * (slice + 1) / job->slices, d_weights,
                               job->scratch + worker * job->scratch_size);
    }
}

static void input_gradient_task(void *context, long task, long worker) {
    const job_t *job = context;
    job->kernels->input_gradient(&job->g, task * BLOCK_TOKENS, least((task + 1) * BLOCK_TOKENS, job->g.rows),
                                 job->scratch + worker * job->scratch_size);
}

static void fill_table_task(void *context, long task, long worker) {
    const job_t *job = context;
    const n_t block = task / 2, rows = job->g.rows, parts = blocks(rows, BLOCK_TOKENS);
    job->kernels->fill_table(&job->g, task % 2, rows * block / parts, rows * (block + 1) / parts,
                             job->scratch + worker * job->scratch_size);
}

/* The gradient of a word's row of the table: the sum over its occurrences, in their order. */
static void sum_table_task(void *context, long task, long worker) {
    const job_t *job = context;
    const gru_t *g = &job->g;
    const n_t direction = task % 2, columns = 3 * g->width, tokens = g->batch * g->steps;
    (void)worker;
    for (n_t row = task / 2 * SUMMED_ROWS; row < least((task / 2 + 1) * SUMMED_ROWS, g->rows); row++) {
        float *restrict to = job->d_table + (direction * g->rows + row) * columns;
        for (n_t j = 0; j < columns; j++) to[j] = 0.0f;
        for (n_t use = job->first_use[row]; use < job->first_use[row + 1]; use++) {
            const float *from = g->gates + (direction * tokens + job->uses[use]) * g->slots * g->width;
            const n_t next = job->uses[least(use + 2, job->first_use[g->rows] - 1)]; /* in main memory: fetched ahead */
            for (n_t j = 0; j < columns; j += LANES) {
                const float *ahead = g->gates + (direction * tokens + next) * g->slots * g->width + j;
                __builtin_prefetch(ahead), __builtin_prefetch(ahead + LANES / 2);
                for (n_t i = j; i < j + LANES; i++) to[i] += from[i];
            }
        }
    }
}

static void table_weights_task(void *context, long task, long worker) {
    const job_t *job = context;
    const n_t group = task / 2, rows = job->g.rows, last = rows * (group + 1) / job->groups;
    const n_t size = (job->g.inputs + job->g.hidden + 1) * 3 * job->g.width;
    for (n_t first = rows * group / job->groups; first < last; first += BLOCK_TOKENS) {
        job->kernels->table_weights(&job->g, task % 2, first, least(first + BLOCK_TOKENS, last),
                                    job->d_weights + task * size, job->scratch + worker * job->scratch_size);
    }
}

/* One row of the weight gradients: the sum over the groups, without the padding from `hidden` to `width`. */
static void weight_gradient_task(void *context, long task, long worker) {
    const job_t *job = context;
    const gru_t *g = &job->g;
    const n_t direction = task % 2, row = task / 2, size = (g->inputs + g->hidden + 1) * 3 * g->width;
    float *to = row < g->inputs               ? job->d_w + (direction * g->inputs + row) * 3 * g->hidden
                : row < g->inputs + g->hidden ? job->d_u + (direction * g->hidden + row - g->inputs) * 3 * g->hidden
                                              : job->d_bias + direction * 3 * g->hidden;
    (void)worker;
    for (n_t gate = 0; gate < 3; gate++, to += g->hidden) {
        const float *from = job->d_weights + direction * size + (row * 3 + gate) * g->width;
        for (n_t j = 0; j < g->hidden; j++) to[j] = from[j];
        for (n_t group = 1; group < job->groups; group++) {
            for (n_t j = 0; j < g->hidden; j++) to[j] += from[2 * group * size + j];
        }
    }
}

/* Sort the real tokens by their words; the sort is stable. */
static void sort_uses(job_t *job) {
    const gru_t *g = &job->g;
    const n_t tokens = g->batch * g->steps;
    for (n_t row = 0; row <= g->rows; row++) job->first_use[row] = 0;
    for (n_t token = 0; token < tokens; token++) job->first_use[g->words[token] + 1] += g->mask[token];
    for (n_t row = 0; row < g->rows; row++) job->first_use[row + 1] += job->first_use[row];
    for (n_t token = 0; token < tokens; token++) {
        if (g->mask[token]) job->uses[job->first_use[g->words[token]]++] = token;
    }
    for (n_t row = g->rows; row > 0; row--) job->first_use[row] = job->first_use[row - 1];
    job->first_use[0] = 0;
}

/* ---- the interface ---- */

static int begin(job_t *job, const gru_shape *shape, const float *x, const int64_t *words, const uint8_t *mask,
                 const float *w, const float *u) {
    *job = (job_t){.kernels = kernels_of(shape->instruction_set, shape->precision), .w = w, .u = u};
    if (!job->kernels) return GRU_NO_SUCH_SET;
    for (n_t token = 0; words && token < shape->batch * shape->steps; token++) {
        if (words[token] < 0 || words[token] >= shape->rows) return GRU_NO_SUCH_ROW;
    }
    gru_t *g = &job->g;
    g->cell = shape->cell, g->batch = shape->batch, g->steps = shape->steps, g->rows = shape->rows;
    g->inputs = shape->inputs, g->hidden = shape->hidden;
    g->width = round_up(g->hidden, LANES);
    g->slots = g->cell == CUDNN ? 4 : 3;
    g->x = x, g->words = words, g->mask = mask;
    const n_t fewest = (g->batch + job->kernels->tile_rows - 1) / job->kernels->tile_rows;
    job->slices = most(fewest, least((g->batch + SLICE_ROWS - 1) / SLICE_ROWS, SLICES));
    job->groups = job->slices ? least(job->slices, MOST_GROUPS) : 1; /* an empty batch has one too: zeros */
    return 0;
}

int64_t gru_gates_size(const gru_shape *shape) {
    return 2 * shape->batch * shape->steps * (shape->cell == CUDNN ? 4 : 3) * round_up(shape->hidden, LANES);
}

int64_t gru_packed_size(const gru_shape *shape) {
    const n_t together = shape->precision == BFLOAT16 ? 2 : 1;
    return 2 * 3 * round_up(shape->hidden, LANES) *
           (blocks(shape->inputs, together) + blocks(shape->hidden, together) + 1);
}

/* The weights are in `packed`, or are packed there. */
static void use_packed(job_t *job, float *packed) {
    gru_t *g = &job->g;
    const n_t columns = 2 * 3 * g->width;
    g->packed_w = packed;
    g->packed_u = g->packed_w + columns * operands(job, g->inputs);
    g->packed_bias = g->packed_u + columns * operands(job, g->hidden);
    job->w_panels = job->u_panels = 3 * g->width / job->kernels->panel;
}

int gru_pack(const gru_shape *shape, const float *w, const float *u, const float *bias, float *packed) {
    job_t job;
    int failed = begin(&job, shape, NULL, NULL, NULL, w, u);
    if (failed) return failed;
    job.bias = bias;
    use_packed(&job, packed);
    pool_run(pack_task, &job, 2 * (job.w_panels + job.u_panels), shape->threads);
    return 0;
}

/* Tasks of several jobs, one job after the other. */
typedef struct {
    job_t *jobs;
    n_t tasks[MOST_TOGETHER]; /* of each job */
    task_function *task;
} several_t;

static void task_of_several(void *context, long task, long worker) {
    const several_t *several = context;
    n_t job = 0;
    for (; task >= several->tasks[job]; job++) task -= several->tasks[job];
    several->task(several->jobs + job, task, worker);
}

static void run_several(several_t *several, n_t count, task_function *task, n_t threads) {
    n_t tasks = 0;
    for (n_t i = 0; i < count; i++) tasks += several->tasks[i];
    several->task = task;
    pool_run(task_of_several, several, tasks, threads);
}

/* The states of at most MOST_TOGETHER jobs whose weights are packed. */
static int read_together(job_t *jobs, n_t count, n_t threads) {
    several_t several = {.jobs = jobs};
    n_t table_size = 0, scratch_size = 0;
    for (n_t i = 0; i < count; i++) {
        const gru_t *g = &jobs[i].g;
        const n_t needed = forward_scratch(g, jobs[i].kernels);
        if (g->words) table_size += 2 * 3 * g->width * g->rows;
        if (needed > scratch_size) scratch_size = needed;
    }
    float *memory = workspace_take(table_size + threads * scratch_size), *table = memory;
    if (!memory) return GRU_NO_MEMORY;
    for (n_t i = 0; i < count; i++) {
        gru_t *g = &jobs[i].g;
        jobs[i].scratch = memory + table_size, jobs[i].scratch_size = scratch_size;
        g->table = table;
        several.tasks[i] = g->words ? 2 * blocks(g->rows, BLOCK_TOKENS) : 0;
        if (g->words) table += 2 * 3 * g->width * g->rows;
    }
    run_several(&several, count, fill_table_task, threads);
    for (n_t i = 0; i < count; i++) several.tasks[i] = 2 * jobs[i].slices;
    run_several(&several, count, forward_task, threads);
    workspace_give_back(memory);
    return 0;
}

int gru_read(const gru_reading *readings, int64_t count) {
    job_t jobs[MOST_TOGETHER];
    for (n_t first = 0; first < count; first += MOST_TOGETHER) {
        const n_t some = least(MOST_TOGETHER, count - first);
        for (n_t i = 0; i < some; i++) {
            const gru_reading *r = &readings[first + i];
            int failed = begin(&jobs[i], &r->shape, r->x, r->words, r->mask, NULL, NULL);
            if (failed) return failed;
            use_packed(&jobs[i], (float *)r->packed);
            jobs[i].g.out = r->out;
        }
        int failed = read_together(jobs, some, readings->shape.threads);
        if (failed) return failed;
    }
    return 0;
}

int gru_forward(const gru_shape *shape, const float *x, const int64_t *words, const uint8_t *mask, const float *w,
                const float *u, const float *bias, float *out, float *gates) {
    job_t job;
    int failed = begin(&job, shape, x, words, mask, w, u);
    if (failed) return failed;
    gru_t *g = &job.g;
    const n_t packed_size = gru_packed_size(shape), table_size = words ? 2 * 3 * g->width * g->rows : 0;
    job.bias = bias;
    g->out = out, g->gates = gates;
    job.scratch_size = forward_scratch(g, job.kernels);

    float *memory = workspace_take(packed_size + table_size + shape->threads * job.scratch_size);
    if (!memory) return GRU_NO_MEMORY;
    use_packed(&job, memory);
    g->table = memory + packed_size;
    job.scratch = g->table + table_size;

    pool_run(pack_task, &job, 2 * (job.w_panels + job.u_panels), shape->threads);
    if (words) pool_run(fill_table_task, &job, 2 * blocks(g->rows, BLOCK_TOKENS), shape->threads);
    pool_run(forward_task, &job, 2 * job.slices, shape->threads);
    workspace_give_back(memory);
    return 0;
}

int gru_backward(const gru_shape *shape, const float *x, const int64_t *words, const uint8_t *mask, const float *w,
                 const float *u, const float *out, float *gates, const float *d_out, float *d_x, float *d_w, float *d_u,
                 float *d_bias) {
    job_t job;
    int failed = begin(&job, shape, x, words, mask, w, u);
    if (failed) return failed;
    gru_t *g = &job.g;
    const n_t panel = job.kernels->panel, tokens = g->batch * g->steps, depth = 2 * 3 * g->width;
    const n_t packed_depth = 2 * operands(&job, 3 * g->width);
    g->out = (float *)out, g->gates = gates, g->d_out = d_out, g->d_x = d_x;
    job.d_w = d_w, job.d_u = d_u, job.d_bias = d_bias;
    job.w_panels = d_x ? blocks(g->inputs, panel) : 0;
    job.u_panels = g->width / panel;
    job.scratch_size = backward_scratch(g, job.kernels);

    const n_t w_size = job.w_panels * panel * packed_depth, u_size = g->width * packed_depth;
    const n_t gradients = job.groups * (g->inputs + g->hidden + 1) * depth;
    const n_t table = words ? g->rows * depth : 0;
    const n_t uses = words ? round_up(tokens + g->rows + 1, LANES) : 0; /* what follows begins a line of the cache */
    float *memory =
        workspace_take(2 * uses + w_size + u_size + gradients + table + shape->threads * job.scratch_size);
    if (!memory) return GRU_NO_MEMORY;
    job.uses = (int64_t *)memory;
    job.first_use = job.uses + tokens;
    g->packed_w = memory + 2 * uses;
    g->packed_u = g->packed_w + w_size;
    job.d_weights = g->packed_u + u_size;
    job.d_table = job.d_weights + gradients;
    job.scratch = job.d_table + table;
    g->d_table = words ? job.d_table : gates;
    g->d_table_row = words ? 3 * g->width : g->slots * g->width;

    pool_run(pack_transposed_task, &job, 2 * (job.w_panels + job.u_panels), shape->threads);
    pool_run(backward_task, &job, 2 * job.groups, shape->threads);
    if (words) {
        sort_uses(&job);
        pool_run(sum_table_task, &job, 2 * blocks(g->rows, SUMMED_ROWS), shape->threads);
        pool_run(table_weights_task, &job, 2 * job.groups, shape->threads);
    }
    pool_run(weight_gradient_task, &job, 2 * (g->inputs + g->hidden + 1), shape->threads);
    if (d_x) pool_run(input_gradient_task, &job, blocks(g->rows, BLOCK_TOKENS), shape->threads);
    workspace_give_back(memory);
    return 0;
}

enum { PEAK_ROUNDS = 50000 }; /* of a task */

typedef struct {
    const kernels_t *kernels;
    _Atomic(n_t) operations;
} peak_t;

static void peak_task(void *context, long task, long worker) {
    peak_t *job = context;
    float numbers[PEAK_NUMBERS];
    (void)task, (void)worker;
    for (n_t i = 0; i < PEAK_NUMBERS; i++) numbers[i] = 0.5f;
    job->operations += job->kernels->peak(numbers, PEAK_ROUNDS);
}

int64_t gru_peak(int64_t instruction_set, int64_t precision, int64_t tasks, int64_t threads) {
    peak_t job = {.kernels = kernels_of(instruction_set, precision)};
    if (!job.kernels) return -1;
    pool_run(peak_task, &job, tasks, threads);
    return job.operations;
}
