/** Rewards by task and step: which tasks are learned, and when. Pure. */
import type { EpisodePhase } from "./api/episodes.ts";
import type { MapCell, MapRow, TaskFate, TaskMap } from "./api/tasks.ts";
import type { TaskCell } from "./index/query.ts";

/** More cannot be told apart on a screen: neighbouring steps share a column. */
const maxColumns = 240;
/** Where each step has a part of the tasks, about as many steps as all of them need share one, down to so few. */
const fewColumns = 8;
const maxRows = 500;
/** Visits at either end whose mean is compared: an eighth of all, so that a task that is learned early counts. */
const [maxVisits, visitShare] = [3, 8];
/** Of what follows, for a task to count as learned. */
const solvedShare = 0.75;

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** The mean of all that are known; null for none. */
function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : mean(known);
}

export interface Outcome {
  readonly first: number | null;
  readonly last: number | null;
  readonly gain: number | null;
  readonly fate: TaskFate;
  /** Index of the first of the visits from which on it is solved. */
  readonly learnedFrom: number | null;
}

/** Index of the first visit that is solved and from which on most are; null for none. */
function solvedFrom(rewards: readonly number[], middle: number): number | null {
  let solved = 0;
  let from: number | null = null;
  for (let i = rewards.length - 1; i >= 0; i--) {
    if ((rewards[i] ?? middle) <= middle) continue;
    solved++;
    if (solved >= solvedShare * (rewards.length - i)) from = i;
  }
  return from;
}

/**
 * What became of a task, from its mean rewards in the order of its visits. The means of one to three visits at
 * either end are compared; a reward above `middle` counts as solved.
 */
export function outcomeOf(rewards: readonly number[], middle: number): Outcome {
  const ends = Math.max(1, Math.min(maxVisits, Math.floor(rewards.length / visitShare)));
  const first = meanOf(rewards.slice(0, ends));
  const last = meanOf(rewards.slice(-ends));
  const gain = first === null || last === null || rewards.length < 2 ? null : last - first;
  const from = solvedFrom(rewards, middle);
  if ((last ?? middle) <= middle || from === null) {
    const fate = (first ?? middle) > middle ? "lost" : "never";
    return { first, last, gain, fate, learnedFrom: null };
  }
  return from === 0
    ? { first, last, gain, fate: "always", learnedFrom: null }
    : { first, last, gain, fate: "learned", learnedFrom: from };
}

/** Cells of one task with those of one column joined. */
function joined(cells: readonly TaskCell[], columnOf: (step: number) => number): MapCell[] {
  const found: MapCell[] = [];
  for (const { step, reward, rollouts, n } of cells) {
    const column = columnOf(step);
    const before = found.at(-1);
    if (before?.column !== column) {
      found.push({ column, reward, rollouts, n });
      continue;
    }
    const known = [
      { reward: before.reward, rollouts: before.rollouts },
      { reward, rollouts },
    ].filter((one): one is { reward: number; rollouts: number } => one.reward !== null);
    const all = known.reduce((sum, one) => sum + one.rollouts, 0);
    const sum = known.reduce((total, one) => total + one.reward * one.rollouts, 0);
    found[found.length - 1] = {
      column,
      reward: all === 0 ? null : sum / all,
      rollouts: before.rollouts + rollouts,
      n,
    };
  }
  return found;
}

function byTask(cells: readonly TaskCell[]): ReadonlyMap<string, TaskCell[]> {
  const found = new Map<string, TaskCell[]>();
  for (const cell of cells) {
    const list = found.get(cell.task);
    if (list === undefined) found.set(cell.task, [cell]);
    else list.push(cell);
  }
  return found;
}

export interface TaskMapOptions {
  readonly phase: EpisodePhase;
  readonly phases: readonly EpisodePhase[];
  /** Questions of the tasks that are shown, by the number of an episode of each. */
  readonly questions: (numbers: readonly number[]) => ReadonlyMap<number, string>;
}

/** @param cells by task, then by step */
export function taskMap(cells: readonly TaskCell[], options: TaskMapOptions): TaskMap {
  const { phase, phases, questions } = options;
  const steps = [...new Set(cells.map(({ step }) => step))].toSorted((a, b) => a - b);
  const groups = byTask(cells);
  const perPass = Math.round((groups.size * steps.length) / Math.max(1, cells.length));
  const stepsPerColumn = Math.max(
    1,
    Math.ceil(steps.length / maxColumns),
    Math.min(perPass, Math.floor(steps.length / fewColumns)),
  );
  const place = new Map(steps.map((step, i) => [step, Math.floor(i / stepsPerColumn)]));
  const columns = steps.filter((_, i) => i % stepsPerColumn === 0);
  const rewards = cells.flatMap(({ reward }) => (reward === null ? [] : [reward]));
  const low = rewards.reduce((least, reward) => Math.min(least, reward), 0);
  const high = rewards.reduce((most, reward) => Math.max(most, reward), 0);
  const middle = (low + high) / 2;
  const fates: Record<TaskFate, number> = { learned: 0, always: 0, never: 0, lost: 0 };
  const all = [...groups].map(([task, own]): Omit<MapRow, "question"> => {
    const scored = own.filter(({ reward }) => reward !== null);
    const { learnedFrom, ...outcome } = outcomeOf(
      scored.map(({ reward }) => reward ?? 0),
      middle,
    );
    fates[outcome.fate]++;
    return {
      task,
      cells: joined(own, (step) => place.get(step) ?? 0),
      ...outcome,
      learnedAt: learnedFrom === null ? null : (scored[learnedFrom]?.step ?? null),
    };
  });
  const shown = all
    .toSorted((a, b) => (b.gain ?? -Infinity) - (a.gain ?? -Infinity) || (a.task < b.task ? -1 : 1))
    .slice(0, maxRows);
  const texts = questions(shown.flatMap((row) => row.cells.slice(0, 1).map(({ n }) => n)));
  const inColumn = columns.map((): number[] => []);
  for (const row of all)
    for (const { column, reward } of row.cells) if (reward !== null) inColumn[column]?.push(reward);
  return {
    phase,
    phases,
    columns,
    stepsPerColumn,
    lastStep: steps.at(-1) ?? null,
    low,
    high,
    mean: inColumn.map(meanOf),
    rows: shown.map((row) => ({ ...row, question: texts.get(row.cells[0]?.n ?? 0) ?? "" })),
    tasks: all.length,
    fates,
  };
}
