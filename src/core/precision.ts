/** What matrix products of the embedded engine are computed in. */
export type Precision = "f32" | "bf16";

/** `auto`: bf16 where the processor has instructions for it, else f32. */
export const precisionOptions: readonly ["auto", "f32", "bf16"] = ["auto", "f32", "bf16"];
export type PrecisionOption = (typeof precisionOptions)[number];
