/** What a probe got, and what was found. */
import { faultFacts, type RewardFault } from "./faults.ts";

/** One output that was scored. */
export interface RewardCase {
  readonly taskId: string;
  /** Of the probe, in words. */
  readonly probe: string;
  /** The first 500 characters. */
  readonly output: string;
  /** Its length in characters. */
  readonly length: number;
  /** null where the evaluator failed. */
  readonly reward: number | null;
  readonly isCorrect: boolean | null;
  /** Why it failed. */
  readonly error?: string;
}

/** A fault of a reward, with the case that shows it. */
export interface RewardFinding {
  readonly fault: RewardFault;
  /** The same for people. */
  readonly name: string;
  readonly severity: "problem" | "warning";
  /** What was seen, with numbers. */
  readonly evidence: string;
  readonly advice: string;
  /** null where it is a matter of all cases. */
  readonly case: RewardCase | null;
}

export function finding(
  fault: RewardFault,
  evidence: string,
  shown: RewardCase | null,
): RewardFinding {
  const { title, severity, advice } = faultFacts[fault];
  return { fault, name: title, severity, evidence, advice, case: shown };
}
