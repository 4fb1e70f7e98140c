/** Rows of the map of tasks: their order, and their cells as one picture. Pure. */
import type { MapCell, MapRow, TaskMap } from "../api/tasks.ts";
import { levelOf } from "../levels.ts";

export type TaskOrder = "gain" | "learned at" | "reward now" | "reward before" | "name";

const number = (value: number | null, none: number): number => value ?? none;
const byName = (a: MapRow, b: MapRow): number => (a.task < b.task ? -1 : a.task > b.task ? 1 : 0);

export const orders: Readonly<Record<TaskOrder, (a: MapRow, b: MapRow) => number>> = {
  gain: (a, b) => number(b.gain, -Infinity) - number(a.gain, -Infinity),
  "learned at": (a, b) => number(a.learnedAt, Infinity) - number(b.learnedAt, Infinity),
  "reward now": (a, b) => number(b.last, -Infinity) - number(a.last, -Infinity),
  "reward before": (a, b) => number(b.first, -Infinity) - number(a.first, -Infinity),
  name: byName,
};

const isOrder = (text: string): text is TaskOrder => Object.hasOwn(orders, text);

interface Wanted {
  readonly sort: string;
  readonly fate: string;
  /** Part of the question or of the id. */
  readonly find: string;
}

export function shownRows(
  rows: readonly MapRow[],
  { sort, fate, find }: Wanted,
): readonly MapRow[] {
  const text = find.trim().toLowerCase();
  const order = isOrder(sort) ? orders[sort] : orders.gain;
  return rows
    .filter((row) => fate === "" || row.fate === fate)
    .filter(({ task, question }) => `${task}\n${question}`.toLowerCase().includes(text))
    .toSorted((a, b) => order(a, b) || byName(a, b));
}

/** The cell of a column, else the last one before it, else the first. */
export const cellAt = (row: MapRow, column: number): MapCell | null =>
  row.cells.findLast((cell) => cell.column <= column) ?? row.cells[0] ?? null;

/**
 * A gradient with a hard edge at each cell, so that a row of any length is one element and follows the theme.
 * What was not sampled stays clear; where the task was learned there is a line.
 */
export function stripOf(row: MapRow, map: Pick<TaskMap, "columns" | "low" | "high">): string {
  const { length } = map.columns;
  const at = (column: number): string => `${Number(((100 * column) / length).toFixed(3))}%`;
  const stops: string[] = [];
  let until = 0;
  for (const { column, reward } of row.cells) {
    if (column > until) stops.push(`transparent ${at(until)} ${at(column)}`);
    const color = reward === null ? "transparent" : `var(--seq${levelOf(reward, map)})`;
    stops.push(`${color} ${at(column)} ${at(column + 1)}`);
    until = column + 1;
  }
  if (until < length) stops.push(`transparent ${at(until)} 100%`);
  const cells = `linear-gradient(90deg, ${stops.join(", ")}), var(--not-sampled)`;
  const learned =
    row.learnedAt === null ? -1 : map.columns.findLastIndex((step) => step <= (row.learnedAt ?? 0));
  if (learned < 0) return cells;
  const edge = at(learned);
  return `linear-gradient(90deg, transparent calc(${edge} - 1px), var(--fg) calc(${edge} - 1px) calc(${edge} + 1px), transparent calc(${edge} + 1px)), ${cells}`;
}
