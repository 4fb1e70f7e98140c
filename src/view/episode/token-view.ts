/** The tokens of one call, and why they are not trained where something recorded says so. */
import { isCutOff, isFailed } from "../../core/outcome.ts";
import type { Episode, Step, Trajectory } from "../../core/trajectory.ts";
import type { EpisodePhase } from "../api/episodes.ts";
import type { TokenView, TrainedTokens } from "../api/conversation.ts";

/** Text of tokens; special tokens in their own spelling. */
export type DecodeTokens = (ids: Int32Array) => string;

const list = (values: ArrayLike<number> | undefined): number[] => Array.from(values ?? []);

/** One text per token. Bytes of a character that several tokens share show as U+FFFD. */
export function tokenTexts(ids: readonly number[], decode: DecodeTokens | null): string[] | null {
  if (decode === null) return null;
  const known = new Map<number, string>();
  return ids.map((id) => {
    let text = known.get(id);
    if (text === undefined) {
      try {
        text = decode(Int32Array.of(id));
      } catch {
        text = "";
      }
      known.set(id, text);
    }
    return text;
  });
}

/** Rewards of the rollouts of the same task and step. */
export type GroupRewards = readonly (number | null)[];

function episodeReasons(episode: Episode, phase: EpisodePhase, group: GroupRewards): string[] {
  const reasons: string[] = [];
  if (phase !== "train") {
    reasons.push(
      `It is from ${phase === "validation" ? "a validation" : "an evaluation"}: only training rollouts are trained on.`,
    );
    return reasons;
  }
  if (isCutOff(episode)) reasons.push("The rollout was cut off because the run stopped.");
  else if (isFailed(episode) && episode.reward === null)
    reasons.push("The rollout failed and has no reward.");
  else if (episode.reward === null) reasons.push("The rollout has no reward.");
  const rewards = group.filter((reward) => reward !== null);
  if (rewards.length > 1 && new Set(rewards).size === 1)
    reasons.push(
      `All ${rewards.length} rollouts of the task have the reward ${rewards[0]}: with a group baseline the advantage of every token is 0.`,
    );
  return reasons;
}

function stepReasons({ trace }: Step, trajectory: Trajectory): string[] {
  return [
    ...(trajectory.untrained === undefined
      ? []
      : [`Its trajectory is excluded from training: ${trajectory.untrained}.`]),
    ...(trace.untrainable === undefined
      ? []
      : [`The call cannot be trained on: ${trace.untrainable}.`]),
    ...(list(trace.responseIds).length === 0
      ? ["The inference server returned no token ids for it."]
      : []),
  ];
}

/** What the run kept of training on a call, and whether it kept any of other calls. */
export interface KeptTokens {
  readonly find: (trace: string, tokens: number) => TrainedTokens | null;
  readonly isOn: boolean;
}

/** For what has no run folder. */
const nothingKept: KeptTokens = { find: () => null, isOn: false };

function lacks(phase: EpisodePhase, isOn: boolean, trained: TrainedTokens | null): string[] {
  if (trained === null) {
    if (phase !== "train") return [];
    return [
      isOn
        ? "No numbers of training are kept for this call: record.token_rows keeps a part of the rows, and only of calls that are trained on."
        : "No numbers of training are kept for tokens: set record.token_rows.",
    ];
  }
  return [
    ...(trained.reference === null
      ? ["The run measures against no reference model, so it has no log-probabilities of one."]
      : []),
    ...(trained.entropy === null
      ? ["The backend of the run returns no entropy per token; local does."]
      : []),
  ];
}

export interface TokenViewOptions {
  readonly phase: EpisodePhase;
  readonly group: GroupRewards;
  /** Null where the model's tokenizer is not at hand. */
  readonly decode: DecodeTokens | null;
  /** @default nothing */
  readonly kept?: KeptTokens;
}

/** Null where the episode has no call `k`. */
export function tokenView(
  episode: Episode,
  k: number,
  { phase, group, decode, kept = nothingKept }: TokenViewOptions,
): TokenView | null {
  const steps = episode.trajectories.flatMap((trajectory) =>
    trajectory.steps.map((step) => ({ step, trajectory })),
  );
  const found = steps[k];
  if (found === undefined) return null;
  const { trace } = found.step;
  const [promptIds, responseIds] = [list(trace.promptIds), list(trace.responseIds)];
  const trained = kept.find(trace.id, responseIds.length);
  return {
    promptIds,
    responseIds,
    logprobs: list(trace.logprobs),
    temperedLogprobs: trace.temperedLogprobs === undefined ? null : list(trace.temperedLogprobs),
    logprobKind: trace.logprobKind,
    promptTexts: tokenTexts(promptIds, decode),
    responseTexts: tokenTexts(responseIds, decode),
    untrained: [
      ...episodeReasons(episode, phase, group),
      ...stepReasons(found.step, found.trajectory),
    ],
    trained,
    notRecorded: lacks(phase, kept.isOn, trained),
  };
}
