/** Checks combinations of options, each of which is valid on its own. */
import { parseRejection } from "../algorithms/rollout-correction/rejection.ts";
import { ConfigError } from "../core/errors.ts";
import { loopProblems } from "./loop-combinations.ts";
import type { RolloutCorrectionOptions } from "./train-config.ts";
import type { TrainConfig } from "./train-config.ts";

/** Problems, as sentences. */
export function combinationProblems(config: TrainConfig): string[] {
  return [...correctionProblems(config.algorithm.rolloutCorrection), ...loopProblems(config)];
}

function correctionProblems(correction: RolloutCorrectionOptions): string[] {
  const { bypassMode, tisMode, rolloutRs, rolloutRsThreshold } = correction;
  const problems: string[] = [];
  if (bypassMode === true && tisMode !== null) {
    problems.push(
      `algorithm.rollout_correction.tis_mode=${tisMode} with bypass_mode=true would count the same ratio twice: in bypass mode the loss already contains it. Set only one of them.`,
    );
  }
  if (rolloutRs !== null && rolloutRsThreshold === null) {
    problems.push(
      "algorithm.rollout_correction.rollout_rs needs algorithm.rollout_correction.rollout_rs_threshold: set both, or neither.",
    );
  }
  if (rolloutRs !== null && rolloutRsThreshold !== null) {
    const parsed = parseRejection(rolloutRs, rolloutRsThreshold);
    if (typeof parsed === "string")
      problems.push(`algorithm.rollout_correction.rollout_rs: ${parsed}.`);
  }
  return problems;
}

/** @throws ConfigError that names every problem. */
export function checkCombinations(config: TrainConfig): void {
  const problems = combinationProblems(config);
  if (problems.length === 0) return;
  throw new ConfigError({
    message:
      problems.length === 1
        ? (problems[0] as string)
        : `The configuration has ${problems.length} problems:\n${problems.map((line) => `- ${line}`).join("\n")}`,
    fields: { problems },
  });
}
