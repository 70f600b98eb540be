/* Room for a call's packed weights and temporaries, kept for the next call. */
#ifndef GAREADER_MEMORY_H
#define GAREADER_MEMORY_H

#include <stdint.h>

/* `count` floats, or NULL. */
float *workspace_take(int64_t count);
void workspace_give_back(float *workspace);

#endif
