/* The kernels for one instruction set. This file is included once for each, with these macros:
   NAME(x)     the name of x in this instruction set
   VECTOR      floats in a vector
   TILE_ROWS   rows of a tile; a tile has two vectors of columns, so twice as many accumulators
   The order of a sum does not depend on the rows of a tile, so results do not depend on the division into tasks. */

#include "products.h"
#include "recurrence.h"
#include "gating.h"

static const kernels_t NAME(kernels) = {
    .tile_rows = TILE_ROWS,
    .panel = PANEL,
    .pack = NAME(pack),
    .pack_transposed = NAME(pack_transposed),
    .fill_table = NAME(fill_table),
    .forward = NAME(forward),
    .backward = NAME(backward),
    .table_weights = NAME(table_weights),
    .input_gradient = NAME(input_gradient),
    .gate = NAME(gate),
    .gate_gradient = NAME(gate_gradient),
};

#undef V
#undef VI
#undef PANEL
#undef INLINE
#undef UNROLL
#undef WIDE
#undef ROWS
#undef load
#undef store
#undef NAME
#undef VECTOR
#undef TILE_ROWS
