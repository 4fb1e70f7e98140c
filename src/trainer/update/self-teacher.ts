/** The policy as its own teacher: it scores what it sampled with a hint in its prompt. */
import { hintedRow } from "../../algorithms/rows/hinted-rows.ts";
import { ConfigError } from "../../core/errors.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { Renderer } from "../../core/policy.ts";
import type { Task } from "../../core/task.ts";
import type { Episode, TrajectoryGroup } from "../../core/trajectory.ts";
import type { Score } from "./shape-rewards.ts";

/** A hint for the teacher; null where there is none. */
export type Hint = (task: Task, episode: Episode) => unknown;

export interface SelfTeacherOptions {
  readonly renderer: Renderer | undefined;
  /** A row that a hint makes longer than this is read without it, and teaches nothing. @default Infinity */
  readonly contextLength: number | undefined;
  readonly hint: Hint | undefined;
  readonly score: Score;
}

export interface SelfTaught {
  /** Rows that the teacher read with their hint; others teach nothing. */
  readonly rows: readonly TrainingRow[];
  /** [row][length] */
  readonly logprobs: readonly Float32Array[];
  /** `distillation/...` */
  readonly metrics: Readonly<Record<string, number>>;
}

/** What a hint function or a field gave, as text. */
function textOf(hint: unknown): string | null {
  if (hint === null || hint === undefined || hint === "") return null;
  return typeof hint === "string" ? hint : JSON.stringify(hint);
}

const where = (row: TrainingRow): string => row.provenance.episodeId;

/**
 * Scores `rows` by the policy with its hints. A row without a hint keeps its own log-probabilities, so that its
 * advantages are 0.
 * @throws ConfigError where nothing is known of how messages are written.
 */
export async function teachItself(
  rows: readonly TrainingRow[],
  groups: readonly TrajectoryGroup[],
  { renderer, contextLength = Infinity, hint, score }: SelfTeacherOptions,
): Promise<SelfTaught> {
  if (renderer === undefined) {
    throw new ConfigError({
      message:
        "distillation.teacher=self needs to know how messages become tokens, but the backend has no renderer.",
      hint: "Use a backend that returns a renderer from start().",
    });
  }
  const members = groups.flatMap((group) => group.members);
  const episodes = new Map(members.map(({ episode }) => [episode.id, episode]));
  const texts = new Map<string, string | null>();
  for (const id of new Set(rows.map(where))) {
    const episode = episodes.get(id);
    texts.set(id, episode === undefined ? null : textOf(await hint?.(episode.task, episode)));
  }
  const traces = new Map(
    members.flatMap(({ episode, trajectory }) =>
      trajectory.steps.map(({ trace }) => [`${episode.id}\n${trace.id}`, trace] as const),
    ),
  );
  let unhinted = 0;
  const read = rows.map((row) => {
    const text = texts.get(where(row)) ?? null;
    const trace = traces.get(`${where(row)}\n${row.segments[0]?.traceId}`);
    const found =
      text === null || trace === undefined ? null : hintedRow(row, trace, renderer, text);
    if (found !== null && found.row.tokens.length <= contextLength) return found;
    unhinted++;
    return null;
  });
  const open = read.filter((one) => one !== null);
  const scored = await score(
    open.map(({ row }) => row),
    "current",
  );
  const logprobsOf = new Map(open.map((one, i) => [one, scored[i]!]));
  return {
    rows,
    logprobs: rows.map((row, r) => {
      const one = read[r];
      if (one === undefined || one === null) return row.samplingLogprobs;
      return logprobsOf.get(one)!.subarray(one.shift);
    }),
    metrics: { "distillation/unhinted_rows": unhinted },
  };
}
