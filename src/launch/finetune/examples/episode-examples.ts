/**
 * Examples from recorded episodes, with the token ids that were captured: the good ones (rejection
 * fine-tuning, as in STaR, arXiv:2203.14465, and RAFT, arXiv:2304.06767), good and bad ones with that label,
 * or the best and the worst of a task. Nothing is encoded again.
 */
import { basename } from "node:path";
import { buildRows } from "../../../algorithms/rows/rows.ts";
import { trajectoryDamage } from "../../../core/completeness.ts";
import { ConfigError } from "../../../core/errors.ts";
import { isFailed, isScored } from "../../../core/outcome.ts";
import type { Renderer } from "../../../core/policy.ts";
import type { Episode } from "../../../core/trajectory.ts";
import { episodeFiles, readEpisodes } from "../../../runs/evaluations/recorded-episodes.ts";
import { addTo } from "../../../util/group-by.ts";
import type { Example, TokenRow } from "./token-row.ts";

export interface EpisodeChoice {
  readonly folder: string;
  /** null: correct episodes. */
  readonly minReward: number | null;
  readonly loss: "sft" | "kto" | "dpo";
}

interface Recorded {
  readonly episode: Episode;
  readonly reward: number;
  readonly rows: readonly TokenRow[];
  /** Why a response of it, or what it rests on, is not whole; null where all is. */
  readonly damage: string | null;
}

const checkedSteps = 20;

/** The ids of another model's tokenizer would be other text. */
class TokenizerCheck {
  readonly #renderer: Renderer;
  readonly #folder: string;
  #left = checkedSteps;

  constructor(renderer: Renderer, folder: string) {
    this.#renderer = renderer;
    this.#folder = folder;
  }

  check({ trajectories }: Episode): void {
    for (const { trace } of trajectories.flatMap(({ steps }) => steps)) {
      const { content } = trace.response;
      const text = typeof content === "string" ? content.trim() : "";
      if (this.#left === 0) return;
      if (text === "" || trace.responseIds.length === 0) continue;
      this.#left--;
      const decoded = this.#renderer.decode(trace.responseIds);
      if (decoded.includes(text)) continue;
      throw new ConfigError({
        message: `The episodes in ${this.#folder} were sampled from a model with another tokenizer: the response ${JSON.stringify(text.slice(0, 60))} is ${JSON.stringify(decoded.slice(0, 60))} in the tokens of this model.`,
        hint: "Fine-tune the model of that run, or write the conversations as messages to a .jsonl file.",
        fields: { folder: this.#folder, traceId: trace.id },
      });
    }
  }
}

/** Episodes of training steps: those of validations are held out. */
export function trainingFiles(folder: string): readonly string[] {
  return episodeFiles(folder).filter((file) => !basename(file).startsWith("val-"));
}

function rowsOfEpisode(episode: Episode): readonly TokenRow[] {
  return episode.trajectories
    .filter(({ untrained }) => untrained === undefined)
    .flatMap((trajectory) => {
      const { name } = trajectory;
      const members = [{ trajectory, episode, reward: 1 }];
      const group = { id: episode.id, taskId: episode.task.id, name, members };
      return buildRows([group], [[1]], { logprobTemperature: "one" }).rows;
    })
    .map(({ tokens, targetMask }) => ({ tokens: tokens.slice(), mask: targetMask.slice() }));
}

function damageOf({ trajectories }: Episode): string | null {
  const trained = trajectories.filter(({ untrained }) => untrained === undefined);
  return trained.map(trajectoryDamage).find((damage) => damage !== null) ?? null;
}

function isGood(
  { episode, reward }: Pick<Recorded, "episode" | "reward">,
  minReward: number | null,
): boolean {
  return minReward === null ? episode.isCorrect === true : reward >= minReward;
}

/** Rollouts of one task in one step. */
export function groupName({ id, task }: Episode): string {
  const end = id.lastIndexOf("/");
  return end < 0 ? task.id : id.slice(0, end);
}

function pairOf(group: readonly Recorded[], minReward: number | null): Example | null {
  const [first] = group;
  if (first === undefined) return null;
  const whole = group.filter(({ damage }) => damage === null);
  const [some] = whole;
  if (some === undefined) return null;
  const best = whole.reduce((a, b) => (b.reward > a.reward ? b : a), some);
  const worst = group.reduce((a, b) => (b.reward < a.reward ? b : a));
  if (best.reward === worst.reward) return null;
  if (minReward !== null && best.reward < minReward) return null;
  return { at: best.episode.id, rows: best.rows, rejected: worst.rows, label: null };
}

/** Why there are no examples. */
function wantedOf(loss: EpisodeChoice["loss"], minReward: number | null): string {
  if (loss === "dpo") return "no task has episodes with different rewards";
  if (loss === "kto") {
    return minReward === null
      ? "they are not both correct and incorrect ones"
      : `they are not on both sides of the reward ${minReward}`;
  }
  return minReward === null ? "none is correct" : `none has a reward of at least ${minReward}`;
}

/** One sentence about the good episodes that are no demonstrations, because they are not whole. */
function warnOfDamage(left: readonly string[], folder: string, warn: (text: string) => void): void {
  if (left.length === 0) return;
  const counts = [...new Set(left)].map(
    (why) => `${left.filter((one) => one === why).length} ${why}`,
  );
  warn(
    `${left.length} good ${left.length === 1 ? "episode" : "episodes"} of ${folder} ${left.length === 1 ? "is" : "are"} not imitated, because ${left.length === 1 ? "it is" : "they are"} not whole: ${counts.join(", ")}.`,
  );
}

/**
 * What is to be imitated is whole: an episode with a response that was cut off is left out, except as the worse one.
 * @param warn of what was left out
 * @throws ConfigError when the folder has no episode that can be used.
 */
export function episodeExamples(
  { folder, minReward, loss }: EpisodeChoice,
  renderer: Renderer,
  warn: (text: string) => void = () => {},
): readonly Example[] {
  const tokenizer = new TokenizerCheck(renderer, folder);
  const recorded: Recorded[] = [];
  const left: string[] = [];
  let count = 0;
  let scored = 0;
  for (const episode of readEpisodes(folder, trainingFiles(folder))) {
    count++;
    const { reward } = episode;
    if (reward === null || isFailed(episode) || !isScored(episode)) continue;
    scored++;
    const isWanted = isGood({ episode, reward }, minReward);
    if (loss === "sft" && !isWanted) continue;
    // An evaluator that gives only rewards does not say what is correct.
    if (loss === "kto" && minReward === null && episode.isCorrect === null) continue;
    tokenizer.check(episode);
    const rows = rowsOfEpisode(episode);
    if (rows.length === 0) continue;
    const damage = damageOf(episode);
    if (damage !== null && isWanted) left.push(damage);
    if (damage === null || !isWanted || loss === "dpo")
      recorded.push({ episode, reward, rows, damage });
  }
  warnOfDamage(left, folder, warn);
  const examples = {
    sft: () => goodOnes(recorded),
    kto: () => labelled(recorded, minReward),
    dpo: () => pairs(recorded, minReward),
  }[loss]();
  if (examples.length > 0) return examples;
  const wanted = wantedOf(loss, minReward);
  const kept = loss === "sft" ? recorded.length : 0;
  throw new ConfigError({
    message: `${folder} has no episode to learn from: of ${count} recorded in training steps, ${scored} are scored, and ${wanted}${kept === 0 ? ", or they have no token ids" : ""}${left.length === 0 ? "" : `, or they are not whole: ${[...new Set(left)].join(", ")}`}.`,
    hint: "Lower fine_tuning.min_reward, or name another folder in fine_tuning.from_run.",
    fields: { folder, count, scored },
  });
}

function goodOnes(recorded: readonly Recorded[]): readonly Example[] {
  return recorded.map(({ episode, rows }) => ({
    at: episode.id,
    rows,
    rejected: null,
    label: null,
  }));
}

/** Both kinds, without which there is nothing to compare. */
function labelled(recorded: readonly Recorded[], minReward: number | null): readonly Example[] {
  const examples = recorded.map((each) => {
    const { episode, rows } = each;
    return { at: episode.id, rows, rejected: null, label: isGood(each, minReward) };
  });
  return new Set(examples.map(({ label }) => label)).size === 2 ? examples : [];
}

function pairs(recorded: readonly Recorded[], minReward: number | null): readonly Example[] {
  const groups = new Map<string, Recorded[]>();
  for (const each of recorded) addTo(groups, groupName(each.episode), each);
  return [...groups.values()].flatMap((group) => pairOf(group, minReward) ?? []);
}
