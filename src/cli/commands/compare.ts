/** `agent-trainer compare`: whether one evaluation is better than another. */
import { compareEvaluations } from "../../runs/evaluations/compare.ts";
import { formatComparison } from "../report/evaluation-table.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import type { CliIo } from "../terminal/io.ts";

export interface CompareFlags {
  readonly failIfWorse?: boolean;
  readonly seed?: number;
  readonly json?: boolean;
}

/** Returns the exit status. */
export function compareCommand(a: string, b: string, flags: CompareFlags, io: CliIo): number {
  const { failIfWorse, seed, json } = flags;
  const comparison = compareEvaluations(a, b, seed === undefined ? {} : { seed });
  io.stdout.write(json === true ? `${JSON.stringify(comparison)}\n` : formatComparison(comparison));
  return failIfWorse === true && comparison.isWorse ? exitCodes.failed : exitCodes.done;
}
