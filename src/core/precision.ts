/** What matrix products of the embedded engine are computed in. */
export type Precision = "f32" | "bf16";

/** `auto`: bf16 where the processor has instructions for it, else f32. */
export const precisionOptions = ["auto", "f32", "bf16"] as const satisfies readonly (
  | "auto"
  | Precision
)[];
export type PrecisionOption = (typeof precisionOptions)[number];
