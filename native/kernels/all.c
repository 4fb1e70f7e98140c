// All operations, compiled once for each instruction set; INSTRUCTION_SET is its name.
#include "pack.c"
#include "product.c"

#define OPERATION(name, arity) {#name, arity, name}
static const struct operation operations[] = {
    OPERATION(pack, 13),
    OPERATION(product, 23),
};

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define SYMBOL_OF(x) instruction_set_##x
#define SYMBOL(x) SYMBOL_OF(x)
const struct instruction_set SYMBOL(INSTRUCTION_SET) = {
    TEXT(INSTRUCTION_SET), operations, sizeof operations / sizeof *operations};
