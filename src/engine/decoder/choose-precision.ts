/** What matrix products are computed in, as an option says it. */
import type { Device } from "../tensor/device.ts";
import type { Precision } from "../tensor/matrix.ts";

/** `auto`: bf16 where the processor has instructions for it, else f32. */
export type PrecisionOption = "auto" | Precision;

export function choosePrecision(option: PrecisionOption, device: Device): Precision {
  if (option !== "auto") return option;
  return device.hasBfloat16 ? "bf16" : "f32";
}
