/* The workspace of a call, for packed weights and temporaries; it is kept for the next call. */
#ifndef GAREADER_MEMORY_H
#define GAREADER_MEMORY_H

#include <stdint.h>

/* `count` floats, or NULL without enough memory. */
float *workspace_take(int64_t count);
void workspace_give_back(float *workspace);

#endif
