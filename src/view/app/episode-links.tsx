/** From an episode to the same task at other steps, and to its difference from any other. */
import type { EpisodeRow } from "../api/episodes.ts";
import { diffLink } from "./diff-page.tsx";
import type { Route } from "./parse-route.ts";
import { useRead } from "./read.ts";
import { go, linkTo } from "./route.ts";

interface HistoryProps {
  readonly run: number;
  readonly row: EpisodeRow;
  readonly filter: Route["filter"];
}

/** The same task at other steps. */
export function History({ run, row, filter }: HistoryProps) {
  const { value: rows } = useRead<readonly EpisodeRow[]>(`/api/runs/${run}/history/${row.n}`);
  if (rows === null || rows.length < 2) return null;
  const at = Math.max(
    0,
    rows.findIndex(({ step }) => step >= row.step),
  );
  return (
    <label class="grow">
      This task at step {row.step} <span class="dim">({rows.length} recorded)</span>
      <input
        type="range"
        min={0}
        max={rows.length - 1}
        value={at}
        aria-valuetext={`step ${row.step}`}
        onChange={(event) => {
          const other = rows[Number(event.currentTarget.value)];
          if (other !== undefined) go(linkTo("episode", run, other.n, filter));
        }}
      />
    </label>
  );
}

export function DiffField({ run, n }: { run: number; n: number }) {
  return (
    <label>
      Diff with{" "}
      <input
        size={14}
        placeholder="id or number"
        onChange={(event) => {
          const other = event.currentTarget.value.trim();
          if (other !== "") go(diffLink(run, n, other));
        }}
      />
    </label>
  );
}
