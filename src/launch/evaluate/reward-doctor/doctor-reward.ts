/** Probes an evaluator with outputs that no reward should pay for, before a model learns to write them. */
import type { Evaluator } from "../../../core/agent.ts";
import { ConfigError } from "../../../core/errors.ts";
import type { Task } from "../../../core/task.ts";
import { requireCallable } from "../../../rollouts/programs/callable.ts";
import { defaultRolloutLimits } from "../../../rollouts/rollout-request.ts";
import { mapConcurrent } from "../../../util/concurrency.ts";
import { findFaults } from "./find-faults.ts";
import { canReplace, probeEpisode } from "./probe-episode.ts";
import { badProbes, goodProbes, type ProbeContext } from "./probes.ts";
import { referenceField, referenceOf } from "./reference.ts";
import type { RewardFinding } from "./report.ts";
import { scoreProbe, type Scored } from "./score-probe.ts";

/** What {@link doctorReward} probes, and how much. */
export interface RewardDoctorOptions<Metadata = Record<string, unknown>> {
  /** The reward. */
  readonly evaluator: Evaluator<Metadata>;
  /** Tasks whose outputs it scores. */
  readonly tasks: readonly Task<Metadata>[];
  /** Field of `task.metadata` with the reference answer. @default the first of answer, solution, expected ... */
  readonly reference?: string;
  /** Output of a rollout: the probes take its form, with their text in place of its texts. @default a text */
  readonly output?: unknown;
  /** Tasks that are probed, evenly over all. @default 8 */
  readonly maxTasks?: number;
  /** Limit in milliseconds of one call. @default 60_000 */
  readonly timeoutMs?: number;
  /** Called as calls end. */
  readonly onProgress?: (done: number, of: number) => void;
  /** Aborting it rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** The result of {@link doctorReward}. */
export interface RewardReport {
  /** Tasks that were probed. */
  readonly tasks: number;
  /** Calls of the evaluator. */
  readonly calls: number;
  /** Field of the reference answer; null where none was found. */
  readonly reference: string | null;
  /** Faults; empty where none was found. */
  readonly findings: readonly RewardFinding[];
  /** What could not be checked, as sentences. */
  readonly notes: readonly string[];
}

const normal = (text: string): string => text.trim().toLowerCase();

/** Calls at the same time, in the second of two passes. */
const concurrency = 8;

/** Tasks whose reference answers are the wrong ones of others. */
const maxReferences = 1000;

/** The probes of a task, without those that say the right thing by accident. */
function textsOf(context: ProbeContext): { probe: string; text: string }[] {
  const { reference } = context;
  const good =
    reference === null
      ? []
      : goodProbes.map(({ name, text }) => ({ probe: name, text: text(reference) }));
  const bad = badProbes.flatMap(({ name, fault, text: make }) => {
    const text = make(context);
    if (text === null) return [];
    if (reference !== null && normal(text) === normal(reference)) return [];
    const mayHold = fault === "pays_listing" || fault === "pays_echo";
    return !mayHold && reference !== null && hasWord(text, reference)
      ? []
      : [{ probe: name, text }];
  });
  return [...good, ...bad];
}

const hasWord = (text: string, word: string): boolean =>
  new RegExp(`(?<![\\p{L}\\p{N}])${escape(normal(word))}(?![\\p{L}\\p{N}])`, "u").test(
    normal(text),
  );

const escape = (text: string): string => text.replaceAll(/[.*+?^$()|[\]\\{}/-]/gu, String.raw`\$&`);

/** Evenly over the list, the first one included. */
function spread<T>(list: readonly T[], max: number): T[] {
  if (list.length <= max) return [...list];
  return Array.from({ length: max }, (_, i) => list[Math.floor((i * list.length) / max)] as T);
}

/**
 * Scores outputs that should get nothing (empty, echoes, refusals, format without content, long text, wrong
 * and copied answers, instructions to a judge) and the reference answer in several forms, each one twice,
 * and names what is wrong. No model is called.
 *
 * @throws ConfigError without tasks.
 *
 * @example
 * const { findings } = await doctorReward({
 *   evaluator: (task, episode) => String(episode.output).includes(task.metadata.answer),
 *   tasks,
 * });
 * for (const { name, evidence, case: shown } of findings) console.log(name, evidence, shown.output);
 */
export async function doctorReward<Metadata = Record<string, unknown>>(
  options: RewardDoctorOptions<Metadata>,
): Promise<RewardReport> {
  const { output, maxTasks = 8, onProgress } = options;
  const { timeoutMs = defaultRolloutLimits.evaluatorTimeoutMs } = options;
  const signal = options.signal ?? new AbortController().signal;
  requireCallable("evaluator", options.evaluator, "evaluate");
  const evaluator = options.evaluator as Evaluator;
  const all = options.tasks as readonly Task[];
  if (all.length === 0)
    throw new ConfigError({ message: "There are no tasks to probe the evaluator with." });
  const field = options.reference ?? all.map(referenceField).find((name) => name !== null) ?? null;
  const tasks = spread(all, maxTasks);
  const facts = { tasks: tasks.length, reference: field };
  if (!canReplace(output)) {
    const note = `Rollouts return ${JSON.stringify(output)?.slice(0, 80)}, which holds no text: the evaluator was not probed.`;
    return { ...facts, calls: 0, findings: [], notes: [note] };
  }
  const references = all
    .slice(0, maxReferences)
    .map((task) => referenceOf(task, field))
    .filter((reference) => reference !== null);
  const probes = tasks.flatMap((task) => {
    const reference = referenceOf(task, field);
    const others = new Set(
      references.filter((other) => reference === null || normal(other) !== normal(reference)),
    );
    const context = { instruction: task.instruction, reference, others: [...others].slice(0, 8) };
    return textsOf(context).map(({ probe, text }) => ({ task, probe, text }));
  });
  let calls = 0;
  const score = async ({ task, probe, text }: (typeof probes)[number]): Promise<Scored> => {
    const episode = probeEpisode(task, text, output);
    const scored = await scoreProbe({ evaluator, timeoutMs, signal }, probe, text, episode);
    onProgress?.(++calls, 2 * probes.length);
    return scored;
  };
  const first: Scored[] = [];
  for (const probe of probes) {
    first.push(await score(probe));
    // One that hangs would hang on every task.
    if (first.filter(({ isLate }) => isLate).length >= 3) break;
  }
  const again = await mapConcurrent(
    probes.slice(0, first.length).toReversed(),
    concurrency,
    (probe) => score(probe),
    signal,
  );
  const notes =
    field === null
      ? [
          "No reference answer was found in the tasks, so right answers were not checked: name its field.",
        ]
      : [];
  return { ...facts, calls, findings: findFaults(first, again.toReversed()), notes };
}
