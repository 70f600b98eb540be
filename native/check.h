/* Functions that the checks of both kernels use. */
#ifndef GAREADER_CHECK_H
#define GAREADER_CHECK_H

#include <stddef.h>
#include <stdint.h>

typedef int64_t n_t;

/* Arrays of the exact size, so that the sanitizer reports an access beyond the end; filled with NaN, so that values
   that were never written show. */
void *array(n_t count, size_t size);
float *floats(n_t count);
double *doubles(n_t count);

double uniform(void); /* between 0 and 1 */
double normal(void);  /* mean 0, deviation 1 */

int same_floats(const float *a, const float *b, n_t count);
double largest_error(const float *found, const double *exact, n_t count);
/* How far the gradient along a direction is from the slope there, relative to the gradient's length if that is above 1. */
double slope_error(const float *gradient, const double *direction, double slope, n_t count);

/* The precisions of products, in the order of their numbers. */
enum { FLOAT32, BFLOAT16, PRECISIONS };
extern const char *const PRECISION_NAMES[PRECISIONS];

/* Count a check; return whether it passed. */
int count_check(int good);

void check_gru(void);
void check_attention(void);

#endif
