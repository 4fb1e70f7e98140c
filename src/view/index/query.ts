/** Reads the index: lists of episodes by filter, facets, neighbours, groups. */
import type { Database } from "libsql";
import type { PhaseSteps } from "../phases.ts";
import type {
  EpisodeFilter,
  EpisodePage,
  EpisodePhase,
  EpisodeRow,
  Facets,
} from "../api/episodes.ts";

/** Beyond it, matches are not counted: an exact number would cost the most. */
const countLimit = 1000;
const pageRows = 100;

/** Columns of a row, by the names that it has here. */
const rowColumns = `n, id, step, phase, task, question, rollout, reward, correct, ended, error, calls,
  prompt_tokens AS promptTokens, response_tokens AS responseTokens, tool_calls AS toolCalls,
  tool_errors AS toolErrors, truncated, malformed, seconds, weight_version AS weightVersion, preview`;

/** SQLite has no booleans. */
type Row = Omit<EpisodeRow, "correct"> & { readonly correct: number | null };

const toRow = (row: Row): EpisodeRow => ({
  ...row,
  correct: row.correct === null ? null : row.correct === 1,
});

/** Words as FTS5 strings, so that nothing in them is an operator; each may be a prefix. */
function wordsQuery(text: string): string | null {
  const words = text.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word));
  if (words.length === 0) return null;
  return words.map((word) => `"${word.replaceAll('"', '""')}"*`).join(" AND ");
}

/** What `only` of a filter means. */
export const onlyConditions: Readonly<Record<NonNullable<EpisodeFilter["only"]>, string>> = {
  "tool-errors": "tool_errors > 0",
  errors: "error IS NOT NULL",
  truncated: "truncated > 0",
  malformed: "malformed > 0",
  incorrect: "correct = 0",
};

/** Where numbers of episodes come from. */
interface Source {
  readonly table: "episodes" | "words";
  readonly number: "n" | "rowid";
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

function sourceOf(filter: EpisodeFilter): Source {
  const parts: string[] = [];
  const values: (string | number)[] = [];
  const add = (sql: string, value: string | number | undefined): void => {
    if (value === undefined) return;
    parts.push(sql);
    values.push(value);
  };
  add("phase = ?", filter.phase);
  add("step = ?", filter.step);
  add("task = ?", filter.task);
  add("ended = ?", filter.ended);
  add("reward >= ?", filter.minReward);
  add("reward <= ?", filter.maxReward);
  if (filter.only !== undefined) parts.push(onlyConditions[filter.only]);
  const words = filter.text === undefined ? null : wordsQuery(filter.text);
  if (words !== null && parts.length === 0)
    // Newest first by itself, so that a word of most episodes ends the search early.
    return { table: "words", number: "rowid", sql: "words MATCH ?", values: [words] };
  if (words !== null) {
    parts.push("n IN (SELECT rowid FROM words WHERE words MATCH ?)");
    values.push(words);
  }
  const sql = parts.length === 0 ? "1" : parts.join(" AND ");
  return { table: "episodes", number: "n", sql, values };
}

interface Bound {
  readonly limit: number;
  readonly below?: number;
  readonly above?: number;
}

/** Numbers of the episodes that match, newest first; oldest first from a lower bound on. */
function numbersOf(
  db: Database,
  { table, number, sql, values }: Source,
  { limit, below, above }: Bound,
): readonly number[] {
  const bounds = [
    ...(below === undefined ? [] : [` AND ${number} < ?`]),
    ...(above === undefined ? [] : [` AND ${number} > ?`]),
  ].join("");
  const rows = db
    .prepare(
      `SELECT ${number} AS n FROM ${table} WHERE ${sql}${bounds}
       ORDER BY ${number} ${above === undefined ? "DESC" : "ASC"} LIMIT ${limit}`,
    )
    .all(...values, ...[below, above].filter((one) => one !== undefined)) as { n: number }[];
  return rows.map(({ n }) => n);
}

/** A page of episodes, newest first. @param before only those with a smaller number */
export function listEpisodes(
  db: Database,
  filter: EpisodeFilter,
  before: number | null = null,
  limit: number = pageRows,
): EpisodePage {
  const source = sourceOf(filter);
  // The first page and the count in one search.
  const counted = numbersOf(db, source, { limit: Math.max(countLimit, limit) + 1 });
  const found =
    before === null ? counted : numbersOf(db, source, { limit: limit + 1, below: before });
  const shown = found.slice(0, limit);
  const rows = db
    .prepare(
      `SELECT ${rowColumns} FROM episodes WHERE n IN (${shown.map(() => "?").join(", ")}) ORDER BY n DESC`,
    )
    .all(...shown) as Row[];
  return {
    rows: rows.map(toRow),
    count: Math.min(counted.length, countLimit),
    isCountExact: counted.length <= countLimit,
    next: found.length > limit ? (shown.at(-1) ?? null) : null,
  };
}

export function findRow(db: Database, n: number): EpisodeRow | null {
  const row = db.prepare(`SELECT ${rowColumns} FROM episodes WHERE n = ?`).get(n) as
    | Row
    | undefined;
  return row === undefined ? null : toRow(row);
}

/** By id, or by number. */
export function findByName(db: Database, name: string): EpisodeRow | null {
  const row = db
    .prepare(`SELECT ${rowColumns} FROM episodes WHERE id = ? ORDER BY n DESC`)
    .get(name) as Row | undefined;
  if (row !== undefined) return toRow(row);
  return /^\d{1,15}$/u.test(name) ? findRow(db, Number(name)) : null;
}

/** The next newer and the next older episode that match. */
export function neighbours(
  db: Database,
  n: number,
  filter: EpisodeFilter,
): { readonly previous: number | null; readonly following: number | null } {
  const source = sourceOf(filter);
  const [previous = null] = numbersOf(db, source, { limit: 1, above: n });
  const [following = null] = numbersOf(db, source, { limit: 1, below: n });
  return { previous, following };
}

/** The rollouts of one task in one step. */
export function groupRows(
  db: Database,
  step: number,
  phase: string,
  task: string,
): readonly EpisodeRow[] {
  const rows = db
    .prepare(
      `SELECT ${rowColumns} FROM episodes WHERE step = ? AND phase = ? AND task = ? ORDER BY rollout, n LIMIT 64`,
    )
    .all(step, phase, task) as Row[];
  return rows.map(toRow);
}

/** Episodes of one task and phase, by step: what the step slider moves through. */
export function taskHistory(db: Database, task: string, phase: string): readonly EpisodeRow[] {
  const rows = db
    .prepare(
      `SELECT ${rowColumns} FROM episodes WHERE task = ? AND phase = ? AND rollout = 0 ORDER BY step, n LIMIT 1000`,
    )
    .all(task, phase) as Row[];
  return rows.map(toRow);
}

export function facets(db: Database): Facets {
  const ended = db
    .prepare("SELECT ended AS value, sum(episodes) AS count FROM totals GROUP BY 1 ORDER BY 2 DESC")
    .all() as { value: string; count: number }[];
  const phases = db.prepare("SELECT DISTINCT phase FROM totals ORDER BY 1").all() as {
    phase: EpisodePhase;
  }[];
  const steps = db.prepare("SELECT DISTINCT step FROM totals ORDER BY 1").all() as {
    step: number;
  }[];
  return {
    ended: ended.map(({ value, count }) => ({ value, count })),
    phases: phases.map(({ phase }) => phase),
    steps: steps.map(({ step }) => step),
  };
}

/** Phases that have episodes, with the number of their steps. */
export const phaseSteps = (db: Database): readonly PhaseSteps[] =>
  db
    .prepare("SELECT phase, count(DISTINCT step) AS steps FROM totals GROUP BY phase ORDER BY 1")
    .all() as PhaseSteps[];

/** What the correlations of rewards are computed from. */
export interface ScoredRow {
  readonly step: number;
  readonly reward: number | null;
  readonly calls: number;
  readonly toolCalls: number;
  readonly responseTokens: number;
  readonly signals: Readonly<Record<string, number>>;
}

/** The newest `limit` training episodes that have a reward, up to `untilStep`. */
export function scoredRows(
  db: Database,
  untilStep: number | null,
  limit: number,
): readonly ScoredRow[] {
  const rows = db
    .prepare(
      `SELECT step, reward, calls, tool_calls AS toolCalls, response_tokens AS responseTokens, signals
       FROM episodes WHERE phase <> 'validation' AND reward IS NOT NULL AND step <= ?
       ORDER BY n DESC LIMIT ?`,
    )
    .all(untilStep ?? Number.MAX_SAFE_INTEGER, limit) as (Omit<ScoredRow, "signals"> & {
    readonly signals: string | null;
  })[];
  return rows.map(({ signals, ...row }) => ({
    ...row,
    signals: signals === null ? {} : (JSON.parse(signals) as Record<string, number>),
  }));
}

/** The newest step that has episodes of the phase; null where there is none. */
export function lastStepOf(db: Database, phase: EpisodePhase): number | null {
  const row = db.prepare("SELECT max(step) AS step FROM totals WHERE phase = ?").get(phase) as
    | { step: number | null }
    | undefined;
  return row?.step ?? null;
}

/** Episodes of a phase from a step on, in the order of their tasks; at most `limit`. */
export function rowsOfPhase(
  db: Database,
  phase: EpisodePhase,
  { fromStep, limit }: { readonly fromStep: number; readonly limit: number },
): readonly EpisodeRow[] {
  const rows = db
    .prepare(
      `SELECT ${rowColumns} FROM episodes WHERE phase = ? AND step >= ? ORDER BY step, task, rollout LIMIT ?`,
    )
    .all(phase, fromStep, limit) as Row[];
  return rows.map(toRow);
}

/** The rollouts of one task in one step, as one number. */
export interface TaskCell {
  readonly task: string;
  readonly step: number;
  /** Mean of those that have one. */
  readonly reward: number | null;
  readonly rollouts: number;
  /** Number of one of them. */
  readonly n: number;
}

/** By task, then by step. */
export const taskCells = (db: Database, phase: EpisodePhase): readonly TaskCell[] =>
  db
    .prepare(
      `SELECT task, step, avg(reward) AS reward, count(*) AS rollouts, min(n) AS n
       FROM episodes WHERE phase = ? GROUP BY task, step ORDER BY task, step`,
    )
    .all(phase) as TaskCell[];

/** How the instructions of these episodes begin, by their numbers. */
export function questionsOf(db: Database, numbers: readonly number[]): ReadonlyMap<number, string> {
  const rows = db
    .prepare(`SELECT n, question FROM episodes WHERE n IN (${numbers.map(() => "?").join(", ")})`)
    .all(...numbers) as { readonly n: number; readonly question: string }[];
  return new Map(rows.map(({ n, question }) => [n, question]));
}
