/* Checks of the kernels without Python; `make sanitize` builds and runs them. */
#include "check.h"
#include "gru.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef EXACT_WORKSPACE
#include "memory.h"
#endif

const char *const PRECISION_NAMES[PRECISIONS] = {"float32", "bf16"};

static long checks, failures;

void *array(n_t count, size_t size) {
    void *memory = malloc((size_t)count * size + (count == 0));
    if (!memory) abort();
    return memset(memory, 0xff, (size_t)count * size);
}

float *floats(n_t count) { return array(count, sizeof(float)); }
double *doubles(n_t count) { return array(count, sizeof(double)); }

#ifdef EXACT_WORKSPACE /* replaces memory.c, which rounds up to large pages and keeps old contents */
float *workspace_take(int64_t count) { return floats(count); }
void workspace_give_back(float *workspace) { free(workspace); }
#endif

double uniform(void) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0;
}

double normal(void) {
    double sum = -6.0;
    for (int i = 0; i < 12; i++) sum += uniform();
    return sum;
}

int same_floats(const float *a, const float *b, n_t count) {
    return memcmp(a, b, (size_t)count * sizeof(float)) == 0;
}

double largest_error(const float *found, const double *exact, n_t count) {
    double worst = 0.0;
    for (n_t i = 0; i < count; i++) {
        const double error = fabs(found[i] - exact[i]);
        if (!isnan(worst) && !(error <= worst)) worst = error; /* NaN counts as the largest error */
    }
    return worst;
}

double slope_error(const float *gradient, const double *direction, double slope, n_t count) {
    double found = 0.0, size = 0.0;
    for (n_t i = 0; i < count; i++) {
        found += gradient[i] * direction[i];
        size += (double)gradient[i] * gradient[i];
    }
    return fabs(found - slope) / fmax(1.0, sqrt(size));
}

int count_check(int good) {
    checks++;
    failures += !good;
    return good;
}

static void check_peak(void) {
    for (n_t set = 0; gru_instruction_set(set); set++) {
        const int64_t numbers = gru_peak(set, FLOAT32, 3, 2), pairs = gru_peak(set, BFLOAT16, 3, 2);
        if (!count_check(numbers > 0 && (pairs == numbers || pairs == 2 * numbers))) printf("the peak is off\n");
    }
    if (!count_check(gru_peak(99, FLOAT32, 3, 2) == -1)) printf("the peak of an unknown instruction set\n");
}

int main(void) {
    check_gru();
    check_attention();
    check_peak();
    printf("%ld checks %s\n", failures ? failures : checks, failures ? "failed" : "passed");
    return failures > 0;
}
