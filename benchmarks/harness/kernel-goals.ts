/** Goals of the embedded engine by the kernels that it computes with: AGENT_TRAINER_INSTRUCTION_SET forces a set. */
import { Device } from "../../src/engine/tensor/device.ts";

/** Of the kernels that are measured; the processes of a benchmark have the same. */
export const kernels: Device = new Device({ threads: 1 });

/** Set where it was forced, as part of the report's name. */
export const forcedSet: string | undefined = process.env["AGENT_TRAINER_INSTRUCTION_SET"];

/** `native` where products of bf16 have instructions, else `portable` (AVX2). */
export function goalOf<Goal>(goals: { readonly native: Goal; readonly portable: Goal }): Goal {
  return kernels.hasBfloat16 ? goals.native : goals.portable;
}
