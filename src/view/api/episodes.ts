/** The list of episodes, how it is filtered, and the state of the index behind it; types only. */
import type { EpisodePhase } from "../../runs/evaluations/recorded-episode.ts";

export type { EpisodePhase };

/** One row of the list of episodes. */
export interface EpisodeRow {
  /** Number within the index, from 1. */
  readonly n: number;
  readonly id: string;
  readonly step: number;
  readonly phase: EpisodePhase;
  readonly task: string;
  /** Beginning of the task's instruction. */
  readonly question: string;
  readonly rollout: number;
  readonly reward: number | null;
  readonly correct: boolean | null;
  readonly ended: string;
  readonly error: string | null;
  readonly calls: number;
  readonly promptTokens: number;
  readonly responseTokens: number;
  readonly toolCalls: number;
  readonly toolErrors: number;
  /** Calls that were cut off by their token limit. */
  readonly truncated: number;
  readonly malformed: number;
  readonly seconds: number;
  readonly weightVersion: number | null;
  /** Beginning of the last response. */
  readonly preview: string;
}

/** What `GET episodes` can be asked for; all that are given must hold. */
export interface EpisodeFilter {
  readonly phase?: EpisodePhase;
  readonly step?: number;
  readonly task?: string;
  readonly ended?: string;
  readonly minReward?: number;
  readonly maxReward?: number;
  /** Words of the instruction, the responses, tool arguments and tool results; each may be a prefix. */
  readonly text?: string;
  readonly only?: "tool-errors" | "errors" | "truncated" | "malformed" | "incorrect";
}

export interface EpisodePage {
  readonly rows: readonly EpisodeRow[];
  /** Matching episodes, counted up to `countLimit`. */
  readonly count: number;
  readonly isCountExact: boolean;
  /** Pass as `after` for the next page; null on the last. */
  readonly next: number | null;
}

export interface IndexState {
  readonly episodes: number;
  readonly calls: number;
  /** Lines that hold no episode. */
  readonly damaged: number;
  readonly bytesRead: number;
  readonly bytesTotal: number;
  readonly isBuilding: boolean;
}

export interface Facets {
  readonly ended: readonly { readonly value: string; readonly count: number }[];
  readonly phases: readonly EpisodePhase[];
  /** Steps that have episodes, ascending. */
  readonly steps: readonly number[];
}
