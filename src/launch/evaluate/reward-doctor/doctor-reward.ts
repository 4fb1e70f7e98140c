/** Probes an evaluator with outputs that no reward should pay for, before a model learns to write them. */
import type { Evaluator } from "../../../core/agent.ts";
import { ConfigError } from "../../../core/errors.ts";
import { isScored } from "../../../core/outcome.ts";
import type { Task } from "../../../core/task.ts";
import type { Episode } from "../../../core/trajectory.ts";
import { requireCallable } from "../../../rollouts/programs/callable.ts";
import { defaultRolloutLimits } from "../../../rollouts/rollout-request.ts";
import { mapConcurrent } from "../../../util/concurrency.ts";
import { judgeScores } from "./judge-scores.ts";
import { canReplace, probeEpisode } from "./probe-episode.ts";
import { badProbes, goodProbes, type ProbeContext } from "./probes.ts";
import { referenceField, referenceOf } from "./reference.ts";
import { finding, type RewardFinding } from "./report.ts";
import { scoreProbe, type Scored, type Scoring } from "./score-probe.ts";
import { findSlowness } from "./slowness.ts";

/** What {@link doctorReward} probes, and how much. */
export interface RewardDoctorOptions<Metadata = Record<string, unknown>> {
  /** The reward. */
  readonly evaluator: Evaluator<Metadata>;
  /** Tasks whose outputs it scores. */
  readonly tasks: readonly Task<Metadata>[];
  /** Field of `task.metadata` with the reference answer. @default the first of answer, solution, expected ... */
  readonly reference?: string;
  /** Recorded rollouts: the form of their outputs is that of the probes, and their rewards should differ. @default none */
  readonly episodes?: readonly Episode[];
  /** Tasks that are probed, evenly over all. @default 8 */
  readonly maxTasks?: number;
  /** Limit in milliseconds of one call. @default 60_000 */
  readonly timeoutMs?: number;
  /** Calls at the same time, in the second of two passes. @default 8 */
  readonly concurrency?: number;
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
  /** Real rollouts that were looked at. */
  readonly rollouts: number;
  /** Faults, problems first; empty where none was found. */
  readonly findings: readonly RewardFinding[];
  /** What could not be checked, as sentences. */
  readonly notes: readonly string[];
}

const normal = (text: string): string => text.trim().toLowerCase();

/** The probes of a task, without those that say the right thing by accident. */
function textsOf(context: ProbeContext): { probe: string; text: string }[] {
  const { reference } = context;
  return [...goodProbes, ...badProbes].flatMap(({ name, fault, text: make }) => {
    const text = make(context);
    if (text === null) return [];
    if (fault !== null && reference !== null && normal(text) === normal(reference)) return [];
    const hasWord =
      reference !== null &&
      new RegExp(`(?<![\\p{L}\\p{N}])${escape(normal(reference))}(?![\\p{L}\\p{N}])`, "u").test(
        normal(text),
      );
    const mayHold = fault === null || fault === "pays_listing" || fault === "pays_echo";
    return hasWord && !mayHold ? [] : [{ probe: name, text }];
  });
}

const escape = (text: string): string => text.replaceAll(/[.*+?^$()|[\]\\{}/-]/gu, String.raw`\$&`);

/** Evenly over the list, the first one included. */
function spread<T>(list: readonly T[], max: number): T[] {
  if (list.length <= max) return [...list];
  return Array.from({ length: max }, (_, i) => list[Math.floor((i * list.length) / max)] as T);
}

/** The same output must get the same reward, also when calls overlap and come in another order. */
function unsteady(first: readonly Scored[], second: readonly Scored[]): RewardFinding[] {
  const pairs = first.map((one, i) => [one, second[i] as Scored] as const);
  const differing = pairs.filter(
    ([a, b]) =>
      a.failure === null &&
      b.failure === null &&
      (a.reward !== b.reward || a.isCorrect !== b.isCorrect),
  );
  const [pair] = differing;
  if (pair === undefined) return [];
  const [a, b] = pair;
  const evidence = `"${a.probe}" got ${a.reward}, and ${b.reward} when it was scored again (${differing.length} of ${pairs.length} outputs)`;
  return [finding("nondeterministic", evidence, a)];
}

/** Tasks whose instruction names the answer; one or two characters say nothing. */
function leaks(tasks: readonly Task[], field: string | null): RewardFinding[] {
  const known = tasks.flatMap((task) => {
    const reference = referenceOf(task, field);
    return reference === null || normal(reference).length < 3 ? [] : [{ task, reference }];
  });
  const leaking = known.filter(({ task, reference }) =>
    new RegExp(`(?<![\\p{L}\\p{N}])${escape(normal(reference))}(?![\\p{L}\\p{N}])`, "u").test(
      normal(task.instruction),
    ),
  );
  const [shown] = leaking;
  if (shown === undefined || leaking.length < Math.max(2, 0.2 * known.length)) return [];
  const evidence = `${leaking.length} of ${known.length} instructions contain their reference answer, such as ${JSON.stringify(shown.reference.slice(0, 80))} in task ${shown.task.id}`;
  const { instruction } = shown.task;
  return [
    finding("leaks_answer", evidence, {
      taskId: shown.task.id,
      probe: "instruction",
      output: instruction.slice(0, 500),
      length: instruction.length,
      reward: null,
      isCorrect: null,
    }),
  ];
}

function missing(tasks: readonly Task[], field: string | null): RewardFinding[] {
  if (field === null) return [];
  const without = tasks.filter((task) => referenceOf(task, field) === null);
  if (without.length < Math.max(1, 0.05 * tasks.length)) return [];
  const evidence = `${without.length} of ${tasks.length} tasks have no ${field}, such as ${without[0]?.id}`;
  return [finding("few_references", evidence, null)];
}

/** Rewards of real rollouts, fewer of which say nothing. */
const minRollouts = 8;

function alike(rewards: readonly number[]): RewardFinding[] {
  if (rewards.length < minRollouts || new Set(rewards).size > 1) return [];
  return [finding("no_variance", `all ${rewards.length} rollouts got ${rewards[0]}`, null)];
}

const order = { problem: 0, warning: 1 };

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
 * for (const { name, evidence, case: shown } of findings) console.log(name, evidence, shown?.output);
 */
export async function doctorReward<Metadata = Record<string, unknown>>(
  options: RewardDoctorOptions<Metadata>,
): Promise<RewardReport> {
  const { episodes = [], maxTasks = 8, concurrency = 8, onProgress } = options;
  const { timeoutMs = defaultRolloutLimits.evaluatorTimeoutMs } = options;
  const signal = options.signal ?? new AbortController().signal;
  requireCallable("evaluator", options.evaluator, "evaluate");
  const evaluator = options.evaluator as Evaluator;
  const all = options.tasks as readonly Task[];
  const [firstTask] = all;
  if (firstTask === undefined)
    throw new ConfigError({ message: "There are no tasks to probe the evaluator with." });
  const field = options.reference ?? all.map(referenceField).find((name) => name !== null) ?? null;
  const tasks = spread(all, maxTasks);
  const sample = episodes.find(({ output }) => output !== undefined)?.output;
  const scoring: Scoring = { evaluator, timeoutMs, signal };
  const real = episodes.flatMap((episode) =>
    isScored(episode) && episode.reward !== null ? [episode.reward] : [],
  );
  const about = [
    ...leaks(all.slice(0, 1000), field),
    ...missing(all.slice(0, 1000), field),
    ...alike(real),
  ];
  const facts = { tasks: tasks.length, reference: field, rollouts: episodes.length };
  if (!canReplace(sample)) {
    const note = `Rollouts return ${JSON.stringify(sample)?.slice(0, 80)}, which holds no text: the evaluator was not probed.`;
    return { ...facts, calls: 0, findings: about, notes: [note] };
  }
  const references = all.slice(0, 1000).map((task) => referenceOf(task, field));
  const wanted = tasks.flatMap((task) => {
    const reference = referenceOf(task, field);
    const others = new Set(
      references.filter(
        (other): other is string =>
          other !== null && (reference === null || normal(other) !== normal(reference)),
      ),
    );
    const context = { instruction: task.instruction, reference, others: [...others].slice(0, 8) };
    return textsOf(context).map(({ probe, text }) => ({ task, probe, text }));
  });
  // First, so that nothing below takes minutes.
  const slow = await findSlowness(scoring, (text) => probeEpisode(firstTask, text, sample));
  const probes = wanted.filter(({ text }) => text.length < slow.limit);
  let calls = 0;
  const score = async ({ task, probe, text }: (typeof probes)[number]): Promise<Scored> => {
    const scored = await scoreProbe(scoring, probe, text, probeEpisode(task, text, sample));
    calls++;
    onProgress?.(calls, 2 * probes.length);
    return scored;
  };
  const first: Scored[] = [];
  for (const probe of probes) {
    first.push(await score(probe));
    // One that hangs would hang on every task.
    if (first.filter(({ failure }) => failure === "times_out").length >= 3) break;
  }
  const again = await mapConcurrent(
    probes.slice(0, first.length).toReversed(),
    concurrency,
    (probe) => score(probe),
    signal,
  );
  const found = [
    ...about,
    ...slow.findings,
    ...judgeScores(first, real),
    ...unsteady(first, again.toReversed()),
  ];
  const notes = [
    ...(field === null
      ? [
          "No reference answer was found in the tasks, so right answers were not checked: name its field.",
        ]
      : []),
    ...(probes.length < wanted.length
      ? [
          `${wanted.length - probes.length} of ${wanted.length} outputs were left out, since they would take too long.`,
        ]
      : []),
    ...(episodes.length === 0 ? ["No real rollouts were looked at."] : []),
  ];
  const findings = found.toSorted((a, b) => order[a.severity] - order[b.severity]);
  return { ...facts, calls, findings, notes };
}
