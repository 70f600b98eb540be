/* Gated attention, forward and backward: the C interface and the division into tasks. */
#include "attention.h"

#include <stddef.h>

#include "kernels.h"
#include "memory.h"
#include "pool.h"

enum {
    PARTS = 16 /* least number of tasks of a batch, also of a batch with few documents */
};

typedef struct {
    gated_t g;
    const kernels_t *kernels;
    n_t parts; /* of a document */
    float *scratch;
    n_t scratch_size; /* of one worker */
} job_t;

static void gate_task(void *context, long task, long worker) {
    const job_t *job = context;
    const n_t part = task % job->parts, tokens = job->g.tokens;
    job->kernels->gate(&job->g, task / job->parts, tokens * part / job->parts, tokens * (part + 1) / job->parts,
                       job->scratch + worker * job->scratch_size);
}

static void gradient_task(void *context, long task, long worker) {
    const job_t *job = context;
    job->kernels->gate_gradient(&job->g, task, job->scratch + worker * job->scratch_size);
}

static int run(job_t *job, task_function *task, long tasks, n_t scratch_size, n_t threads) {
    job->scratch_size = round_up(scratch_size, LANES);
    job->scratch = workspace_take(threads * job->scratch_size);
    if (!job->scratch) return GRU_NO_MEMORY;
    pool_run(task, job, tasks, threads);
    workspace_give_back(job->scratch);
    return 0;
}

static int begin(job_t *job, const gate_shape *shape, const float *document, const float *query, const uint8_t *mask,
                 const int16_t *draws) {
    *job = (job_t){.kernels = kernels_of(shape->instruction_set, shape->precision)};
    if (!job->kernels) return GRU_NO_SUCH_SET;
    gated_t *g = &job->g;
    g->tokens = shape->tokens, g->asked = shape->asked, g->width = shape->width;
    g->columns = gate_columns(shape->asked);
    g->out_row = shape->out_row;
    g->document = document, g->query = query, g->mask = mask, g->draws = draws;
    g->threshold = (int16_t)(shape->dropped - 32768);
    g->scale = 65536.0f / (float)(65536 - shape->dropped);
    job->parts = least(blocks(PARTS, shape->batch ? shape->batch : 1), blocks(g->tokens, GATED_TOKENS));
    return 0;
}

int64_t gate_columns(int64_t asked) { return round_up(asked, LANES); }

int gate_forward(const gate_shape *shape, const float *document, const float *query, const uint8_t *mask,
                 const int16_t *draws, float *alpha, float *out) {
    job_t job;
    int failed = begin(&job, shape, document, query, mask, draws);
    if (failed) return failed;
    job.g.alpha = alpha, job.g.out = out;
    return run(&job, gate_task, shape->batch * job.parts, gate_scratch(&job.g, job.kernels), shape->threads);
}

int gate_backward(const gate_shape *shape, const float *document, const float *query, const uint8_t *mask,
                  const int16_t *draws, const float *alpha, const float *d_out, float *d_document, float *d_query) {
    job_t job;
    int failed = begin(&job, shape, document, query, mask, draws);
    if (failed) return failed;
    job.g.alpha = (float *)alpha, job.g.d_out = d_out, job.g.d_document = d_document, job.g.d_query = d_query;
    return run(&job, gradient_task, shape->batch, gate_gradient_scratch(&job.g, job.kernels), shape->threads);
}
