/** What each side of a comparison is asked for, and what it answers. */

export interface OpenRequest {
  readonly do: "open";
}

export interface TrainTurn {
  readonly do: "train";
  readonly rows: number;
  readonly tokens: number;
}

export interface SampleTurn {
  readonly do: "sample";
  readonly batch: number;
  readonly promptTokens: number;
  readonly newTokens: number;
}

export interface TurnAnswer {
  readonly seconds: number;
  readonly peakMiB: number;
}
