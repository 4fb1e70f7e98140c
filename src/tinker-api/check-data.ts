/** Datums that no server could use are refused before they are sent. */
import { ConfigError } from "../core/errors.ts";
import type { Datum } from "./messages.ts";

/** @throws ConfigError naming the datum and the tensor. */
export function checkData(data: readonly Datum[]): void {
  // A server may wait forever on an empty request.
  if (data.length === 0)
    throw new ConfigError({ message: "There is no datum: nothing to compute a loss of." });
  for (const [i, { tokens, lossInputs }] of data.entries()) {
    for (const [name, tensor] of Object.entries(lossInputs)) {
      if (tensor.shape[0] !== tokens.length)
        throw new ConfigError({
          message: `Datum ${i}: "${name}" has ${tensor.shape[0]} entries for ${tokens.length} tokens.`,
          fields: { datum: i, name },
        });
      if (tensor.dtype === "float32" && !areFinite(tensor.data))
        throw new ConfigError({
          message: `Datum ${i}: "${name}" has a number that is not finite.`,
          fields: { datum: i, name },
        });
    }
  }
}

/** A loop, since `every` would call a function for each of millions of numbers. */
function areFinite(values: Float32Array): boolean {
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) return false;
  return true;
}
