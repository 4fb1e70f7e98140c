/** What the gate compares and what it finds. */
import type { ComparableEvaluation, EvaluationComparison, PairedDifference } from "./compare.ts";
import type { GateRule } from "./gate-rule.ts";

/** The model in use and the one that may take its place, on the same tasks. */
export interface GatePair {
  readonly current: ComparableEvaluation;
  readonly candidate: ComparableEvaluation;
}

/** What {@link gateEvaluations} compares. */
export interface GateInput extends GatePair {
  /** Both on tasks that must stay solved. @default none */
  readonly regressions?: GatePair & {
    /** Ids of all of them. @default those that were evaluated */
    readonly ids?: readonly string[];
  };
}

/** A limit that the candidate did not keep. */
export interface GateMiss {
  readonly rule: "gain" | "slice" | "regressions" | "cost" | "latency" | "coverage";
  /** A sentence, with the value and the limit. */
  readonly message: string;
  /** How far from the limit, in its unit; null where nothing could be measured. */
  readonly missedBy: number | null;
}

/** A slice of the held-out tasks. */
export interface GateSlice {
  readonly field: string;
  readonly value: string;
  readonly tasks: number;
  /** Of the mean reward; of pass@1 where nothing has a reward. */
  readonly difference: PairedDifference | null;
  /** Whether it has enough tasks to decide. */
  readonly counts: boolean;
}

/** Means per attempt at held-out tasks; null without attempts. */
export interface GateRatio {
  readonly current: number;
  readonly candidate: number;
  /** candidate / current; null where the latter is 0. */
  readonly ratio: number | null;
}

/** Tasks that must stay solved. */
export interface Regressions {
  readonly tasks: number;
  /** Solved by the model in use. */
  readonly solved: number;
  /** Ids of those that the candidate no longer solves. */
  readonly lost: readonly string[];
}

/** The result of {@link gateEvaluations}; plain data. */
export interface GateReport {
  readonly verdict: "better" | "not better";
  /** Empty where the verdict is "better". */
  readonly misses: readonly GateMiss[];
  readonly heldOut: Pick<EvaluationComparison, "tasks" | "reward" | "pass" | "changed">;
  readonly slices: readonly GateSlice[];
  /** null without a regression set. */
  readonly regressions: Regressions | null;
  /** Held-out tasks that the candidate solves and the model in use does not. */
  readonly gained: readonly string[];
  readonly cost: GateRatio;
  /** In milliseconds. */
  readonly latency: GateRatio;
  readonly rule: Required<GateRule>;
}
