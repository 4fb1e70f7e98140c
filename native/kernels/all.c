// All operations, compiled once for each instruction set; INSTRUCTION_SET is its name.
#include "adam.c"
#include "cached_attention.c"
#include "embed.c"
#include "gate.c"
#include "head.c"
#include "norm.c"
#include "outer.c"
#include "pack.c"
#include "product.c"
#include "quantize.c"
#include "rotate.c"
#include "rows.c"
#include "sample.c"
#include "training_attention.c"
#include "transpose.c"

#define OPERATION(name, arity) {#name, arity, name}
static const struct operation operations[] = {
    OPERATION(adam_step, 13),
    OPERATION(attend, 15),
    OPERATION(attend_backward, 16),
    OPERATION(attend_cached, 18),
    OPERATION(copy_rows, 8),
    OPERATION(embed, 9),
    OPERATION(embed_backward, 7),
    OPERATION(gate, 7),
    OPERATION(gate_backward, 9),
    OPERATION(gather_rows, 8),
    OPERATION(log_probabilities, 11),
    OPERATION(logit_gradients, 10),
    OPERATION(norm, 11),
    OPERATION(norm_backward, 14),
    OPERATION(outer, 12),
    OPERATION(pack, 13),
    OPERATION(product, 23),
    OPERATION(quantize, 10),
    OPERATION(rotate, 10),
    OPERATION(sample_rows, 16),
    OPERATION(scatter_rows, 8),
    OPERATION(square_sum, 3),
    OPERATION(transpose, 6),
    OPERATION(write_cache, 9),
};

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define SYMBOL_OF(x) instruction_set_##x
#define SYMBOL(x) SYMBOL_OF(x)
const struct instruction_set SYMBOL(INSTRUCTION_SET) = {
    TEXT(INSTRUCTION_SET), operations, sizeof operations / sizeof *operations};
