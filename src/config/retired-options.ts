/** Options that there were, and what to do where a file or the folder of an older run still has one. */
export const retiredOptions: ReadonlyMap<string, string> = new Map([
  [
    "local.provider",
    "The embedded engine now computes with its own kernels. Remove the option; local.precision chooses between f32, as before, and bf16.",
  ],
  [
    "local.sampling_precision",
    "The embedded engine now samples in the precision that it trains in. Remove the option; model.quantization=int8 keeps the base in 8-bit integers for both.",
  ],
]);
