/* The kernels for one instruction set. This file is included once for each, with these macros:
   NAME(x)     the name of x in this instruction set
   VECTOR      floats in a vector
   TILE_ROWS   rows of a tile; a tile has two vectors of columns, so twice as many accumulators
   BF16        if defined, products are of bf16 numbers; sums and everything else stay float32
   DOT(s,a,b)  with BF16, the instruction for sums s + a₁ b₁ + a₀ b₀ of pairs; without it, floats do the same
   ROUND(x)    with BF16, the instruction that rounds a vector to bf16 numbers side by side, if there is one
   WIDEN(x)    with ROUND, that vector of 16-bit numbers as one of 32-bit numbers
   LARGER, SMALLER(a,b)  the instructions for the larger and smaller of two vectors, and b if one is not a number
   The order of a sum does not depend on the rows of a tile, so results do not depend on the division into tasks. */

#include "products.h"
#include "recurrence.h"
#include "gating.h"

static const kernels_t NAME(kernels) = {
    .tile_rows = TILE_ROWS,
    .panel = PANEL,
    .together = TOGETHER,
    .pack = NAME(pack),
    .pack_transposed = NAME(pack_transposed),
    .fill_table = NAME(fill_table),
    .forward = NAME(forward),
    .backward = NAME(backward),
    .table_weights = NAME(table_weights),
    .input_gradient = NAME(input_gradient),
    .gate = NAME(gate),
    .gate_gradient = NAME(gate_gradient),
    .peak = NAME(peak),
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
#undef OPERAND
#undef VO
#undef TOGETHER
#undef DEPTH
#undef PARTS
#undef NAME
#undef VECTOR
#undef TILE_ROWS
#undef BF16
#undef DOT
#undef ROUND
#undef WIDEN
#undef LARGER
#undef SMALLER
