/* The kernels for one instruction set. Included once for each, with these defined:
   NAME(x)     the name of x in this instruction set
   VECTOR      floats in a vector
   TILE_ROWS   rows of a tile; a tile has two vectors of columns, so twice as many accumulators
   Sums run over k in one order whatever the rows of a tile, so a result does not depend on how work was shared out. */

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
