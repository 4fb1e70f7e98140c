/** The map of tasks as a table: its rows, what is pointed at, and the keys. */
import { useState } from "preact/hooks";
import type { MapRow, TaskMap } from "../api/tasks.ts";
import type { RunEntry } from "../api/runs.ts";
import { counted, reward, signed, whole } from "./format.ts";
import { useKeys } from "./keys.ts";
import { go, linkTo } from "./route.ts";
import { SelectableRow, useSelection } from "./selection.tsx";
import { cellAt, shownRows, stripOf } from "./task-strip.ts";

/** Rows that are shown before more are asked for. */
const shownFirst = 100;

interface StripProps {
  readonly map: TaskMap;
  readonly row: MapRow;
  readonly onOpen: (n: number) => void;
  readonly onPoint: (column: number | null) => void;
}

/** The cells of a row: one element, since a map may have a hundred thousand of them. */
function Strip({ map, row, onOpen, onPoint }: StripProps) {
  const columns = map.columns.length;
  const columnOf = (event: MouseEvent): number => {
    const { left, width } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return Math.min(columns - 1, Math.floor(((event.clientX - left) / width) * columns));
  };
  return (
    <div
      class="strip"
      role="img"
      aria-label={`Rewards from ${reward(row.first)} to ${reward(row.last)}${row.learnedAt === null ? "" : `, learned at step ${row.learnedAt}`}`}
      style={{ backgroundImage: stripOf(row, map) }}
      onMouseMove={(event) => onPoint(columnOf(event))}
      onMouseLeave={() => onPoint(null)}
      onClick={(event) => {
        const cell = cellAt(row, columnOf(event));
        if (cell !== null) onOpen(cell.n);
      }}
    />
  );
}

interface Pointed {
  readonly task: string;
  readonly column: number;
}

function pointedText(map: TaskMap, row: MapRow, column: number): string {
  const from = map.columns[column];
  const next = map.columns[column + 1];
  const until = next === undefined ? map.lastStep : next - 1;
  const steps = map.stepsPerColumn === 1 ? `step ${from}` : `steps ${from} to ${until}`;
  const cell = row.cells.find((one) => one.column === column);
  return cell === undefined
    ? `${steps}: not sampled`
    : `${steps}: ${reward(cell.reward)}, mean of ${counted(cell.rollouts, "rollout")}`;
}

export function Legend({ map }: { map: TaskMap }) {
  return (
    <span class="row small map-legend">
      <span class="number">{reward(map.low)}</span>
      <span class="ramp" role="img" aria-label="From a low to a high reward" />
      <span class="number">{reward(map.high)}</span>
      <span class="dim">striped: not sampled; a line: learned from here on</span>
    </span>
  );
}

interface BodyProps {
  readonly run: RunEntry;
  readonly map: TaskMap;
  readonly filter: Readonly<Record<string, string>>;
}

export function MapTable({ run, map, filter }: BodyProps) {
  const { sort = "gain", fate = "", find = "" } = filter;
  const [limit, setLimit] = useState(shownFirst);
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const [cursor, setCursor] = useState(map.columns.length - 1);
  const openCell = (n: number): void => go(linkTo("group", run.key, n));
  const rows = shownRows(map.rows, { sort, fate, find });
  const shown = rows.slice(0, limit);
  const openAt = (row: MapRow): void => {
    const cell = cellAt(row, cursor);
    if (cell !== null) openCell(cell.n);
  };
  const selected = useSelection(`${sort}/${fate}/${find}`, shown, openAt);
  const move = (by: number): void =>
    setCursor(Math.max(0, Math.min(map.columns.length - 1, cursor + by)));
  useKeys({
    ArrowLeft: () => move(-1),
    ArrowRight: () => move(1),
    Escape: () => go(linkTo("run", run.key)),
    "/": () => document.querySelector<HTMLInputElement>("input[type=search]")?.focus(),
  });
  const mean: MapRow = {
    ...{
      task: "",
      question: "",
      gain: null,
      fate: "never",
      learnedAt: null,
      first: null,
      last: null,
    },
    cells: map.mean.map((value, column) => ({ column, reward: value, rollouts: 1, n: 0 })),
  };
  return (
    <>
      <div class="scroll map-scroll">
        <table class="map">
          <thead>
            <tr>
              <th scope="col">task</th>
              <th scope="col" class="axis">
                <span>step {map.columns[0]}</span>
                <span class="end">step {map.lastStep}</span>
              </th>
              <th scope="col">before → now</th>
              <th scope="col">gain</th>
              <th scope="col">learned at</th>
            </tr>
          </thead>
          <tbody>
            <tr class="mean">
              <th scope="row">mean of {counted(map.tasks, "task")}</th>
              <td>
                <div
                  class="strip"
                  role="img"
                  aria-label="Mean reward by step"
                  style={{ backgroundImage: stripOf(mean, map) }}
                />
              </td>
              <td class="number">
                {reward(map.mean[0] ?? null)} → {reward(map.mean.at(-1) ?? null)}
              </td>
              <td />
              <td />
            </tr>
            {shown.map((row, i) => (
              <SelectableRow key={row.task} isSelected={i === selected}>
                <th scope="row" title={row.question}>
                  <a href={linkTo("episodes", run.key, "", { task: row.task, phase: map.phase })}>
                    {row.question === "" ? row.task : row.question}
                  </a>
                </th>
                <td class="cells">
                  <Strip
                    map={map}
                    row={row}
                    onOpen={openCell}
                    onPoint={(column) =>
                      setPointed(column === null ? null : { task: row.task, column })
                    }
                  />
                  {i === selected && (
                    <i
                      class="cursor"
                      style={{
                        left: `${(100 * cursor) / map.columns.length}%`,
                        width: `${100 / map.columns.length}%`,
                      }}
                    />
                  )}
                </td>
                <td class="number nowrap">
                  {reward(row.first)} → {reward(row.last)}
                </td>
                <td
                  class={`number ${(row.gain ?? 0) < 0 ? "bad" : (row.gain ?? 0) > 0 ? "good" : "dim"}`}
                >
                  {row.gain === null ? "–" : signed(row.gain)}
                </td>
                <td class="number dim">
                  {row.learnedAt === null ? row.fate : `step ${row.learnedAt}`}
                </td>
              </SelectableRow>
            ))}
          </tbody>
        </table>
      </div>
      <p class="row small map-foot" role="status">
        <span>
          {pointed === null
            ? shown[selected] === undefined
              ? ""
              : pointedText(map, shown[selected], cursor)
            : pointedText(
                map,
                map.rows.find(({ task }) => task === pointed.task) ?? mean,
                pointed.column,
              )}
        </span>
        <span class="dim">
          <kbd>j</kbd> <kbd>k</kbd> tasks, <kbd>←</kbd> <kbd>→</kbd> steps, <kbd>Enter</kbd> opens
          the rollouts
        </span>
        {rows.length > shown.length && (
          <button type="button" onClick={() => setLimit(limit + shownFirst)}>
            Show {Math.min(shownFirst, rows.length - shown.length)} more of {whole(rows.length)}
          </button>
        )}
      </p>
      {rows.length === 0 && <p class="dim">No task has all of what is filtered by.</p>}
    </>
  );
}
