/** What matrix products are computed in, as an option says it. */
import type { Precision, PrecisionOption } from "../../core/precision.ts";
import type { Device } from "../tensor/device.ts";

export function choosePrecision(option: PrecisionOption, device: Device): Precision {
  if (option !== "auto") return option;
  return device.hasBfloat16 ? "bf16" : "f32";
}
