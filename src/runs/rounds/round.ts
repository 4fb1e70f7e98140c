/** A round of improvement: what each stage found, once it is done. Types only: the viewer's page reads them, too. */

/** A model, and its exact weights by name; null where the model is not a checkpoint. */
export interface RoundModel {
  readonly model: string;
  readonly version: string | null;
}

/** What was added to the store from files. */
export interface CollectStage {
  readonly files: number;
  readonly spans: number;
  readonly feedback: number;
}

/** What was made of the store. */
export interface CurateStage {
  readonly conversations: number;
  readonly turns: number;
  readonly good: number;
  readonly bad: number;
  readonly corrections: number;
  /** Turns in no file, by reason. */
  readonly dropped?: Readonly<Record<string, number>>;
  /** Rows that are trained on, and those of held-out users. */
  readonly rows: { readonly train: number; readonly val: number };
  /**
   * The records of feedback that it took: from the first number, up to the second, and those that waited. Of all up
   * to the second, `waiting` are those that are about no turn yet.
   */
  readonly feedback: {
    readonly from: number;
    readonly to: number;
    readonly waiting?: readonly number[];
  };
}

export interface TrainStage {
  readonly with: string;
  readonly steps: number;
  readonly candidate: RoundModel;
}

export interface GateStage {
  readonly verdict: "better" | "not better";
  /** Limits that the candidate did not keep; null where nothing could be measured. */
  readonly misses: readonly {
    readonly rule: string;
    readonly message: string;
    readonly missedBy: number | null;
  }[];
  readonly tasks: number;
  /** Mean reward, or pass@1 where nothing has a reward; null where neither is known. */
  readonly difference: {
    readonly current: number;
    readonly candidate: number;
    readonly difference: number;
    /** null for so few tasks that they allow no interval. */
    readonly low: number | null;
    readonly high: number | null;
  } | null;
  /** Ids of held-out tasks that the candidate newly solves. */
  readonly gained: readonly string[];
}

interface HandOverStage {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Tasks that joined the regression set. */
  readonly regressions: number;
}

export type RoundStatus = "running" | "handed over" | "refused" | "too little" | "abandoned";

export interface Round {
  readonly round: number;
  readonly status: RoundStatus;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** What the file said when it began. */
  readonly options: unknown;
  readonly store: string;
  readonly inUse: RoundModel;
  /** Each is absent until it is done. */
  readonly collect?: CollectStage;
  readonly curate?: CurateStage;
  readonly train?: TrainStage;
  readonly gate?: GateStage;
  readonly handOver?: HandOverStage;
}
