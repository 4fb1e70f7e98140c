/** Where products with 8-bit integers are faster than the same products in 32-bit floats. */
import type { PolicyModel } from "./policy-model.ts";
import type { IntegerUse } from "./integer-products.ts";

/**
 * One term of integers is always faster than floats. Two are faster where few rows are multiplied, as in
 * decoding, or where integers are fast.
 */
export function integerUse(
  { integers: base }: Pick<PolicyModel, "integers">,
  purpose: "training" | "sampling",
): IntegerUse | null {
  if (base === null) return null;
  return { base, forward: base.isFast || purpose === "sampling", backward: base.isFast };
}
