/**
 * What a run reports while it is running: the same objects go to listeners, `events.jsonl` and displays.
 * Names are noun-verb. `time` is milliseconds since the epoch; `step` is the number of optimizer steps
 * done or running, from 1 (0 = before the first).
 */
import type { HealthFinding } from "./health.ts";
import type { Episode } from "./trajectory.ts";

/** An option whose value changed when a run was resumed. */
export interface ConfigChange {
  readonly option: string;
  readonly before: unknown;
  readonly after: unknown;
  /** It decides what the run computes, and the change was allowed explicitly. */
  readonly isFixed: boolean;
}

interface EventBase {
  readonly step: number;
  readonly time: number;
}

/** Something that happened in a run, by `type`; every event has a `step` and a `time`. */
export type TrainerEvent = EventBase &
  (
    | {
        readonly type: "run-start";
        readonly runDir: string;
        readonly seed: number;
        readonly totalSteps: number;
        readonly resumedFrom: string | null;
        /** What it is expected to cost, as a sentence; absent where nothing says so. */
        readonly estimate?: string;
        /** Defaults that were chosen for the model, as sentences. @default none */
        readonly notes?: readonly string[];
      }
    | {
        readonly type: "step-start";
        readonly tasks: number;
        readonly rollouts: number;
        /** Their rollouts that have already ended. @default 0 */
        readonly ready?: number;
      }
    /** The step needs more rollouts than it started with. */
    | { readonly type: "rollouts-added"; readonly tasks: number; readonly rollouts: number }
    | {
        readonly type: "rollout-end";
        readonly episodeId: string;
        readonly taskId: string;
        readonly reward: number | null;
        readonly terminationReason: Episode["terminationReason"];
        readonly isValidation: boolean;
        /** For displays and trackers; not written to `events.jsonl`. */
        readonly episode?: Episode;
      }
    | {
        readonly type: "rollout-retry";
        readonly episodeId: string;
        readonly attempt: number;
        readonly error: { readonly name: string; readonly message: string };
      }
    | {
        readonly type: "evaluator-error";
        readonly episodeId: string;
        readonly taskId: string;
        readonly error: { readonly name: string; readonly message: string };
      }
    | {
        readonly type: "step-end";
        readonly metrics: Readonly<Record<string, number>>;
      }
    | {
        readonly type: "validation-end";
        readonly metrics: Readonly<Record<string, number>>;
        /** For displays; not written to `events.jsonl`. */
        readonly episodes: readonly Episode[];
      }
    | { readonly type: "checkpoint-save"; readonly path: string }
    /** The run was resumed with other options. */
    | { readonly type: "config-change"; readonly changes: readonly ConfigChange[] }
    | { readonly type: "warning"; readonly message: string }
    /** A disease of the run was found; each one once. */
    | { readonly type: "health"; readonly finding: HealthFinding }
    /** What a backend that was created by name is doing; for displays, not written to `events.jsonl`. */
    | { readonly type: "notice"; readonly message: string }
    | {
        readonly type: "run-end";
        readonly status: "completed" | "untrained" | "out_of_budget" | "interrupted" | "failed";
        /** Why it failed or ended early, or why nothing was learned. */
        readonly message: string | null;
      }
  );

type WithoutStamp<Event> = Event extends unknown ? Omit<Event, "step" | "time"> : never;

/** An event before the trainer stamps it: `{ ...event, step, time }` is a `TrainerEvent`. */
export type UnstampedEvent = WithoutStamp<TrainerEvent>;

/** The `type` of a {@link TrainerEvent}. */
export type TrainerEventType = TrainerEvent["type"];

/**
 * Events that rollouts emit; the trainer stamps them with its step and the time. `rollout-retry`: an
 * attempt (numbered from 1) failed and another one follows. `evaluator-error` precedes the
 * `rollout-end` of its episode; for a group evaluator it follows those of the group, once. `warning`: a session could not be closed.
 */
export type RolloutEvent = Extract<
  UnstampedEvent,
  { readonly type: "rollout-end" | "rollout-retry" | "evaluator-error" | "warning" }
>;
