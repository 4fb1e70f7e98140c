/** The list of episodes with its filters. */
import type { EpisodePage, EpisodeRow, Facets } from "../api/episodes.ts";
import type { RunEntry } from "../api/runs.ts";
import { reward, whole } from "./format.ts";
import { useKeys } from "./keys.ts";
import { Pending } from "./pending.tsx";
import { useRead } from "./read.ts";
import { go, linkTo, queryOf } from "./route.ts";
import { SelectableRow, useSelection } from "./selection.tsx";
import { TableHead } from "./table-head.tsx";

type Filter = Readonly<Record<string, string>>;

interface FilterProps {
  readonly run: RunEntry;
  readonly filter: Filter;
  readonly facets: Facets;
}

const onlyNames: readonly (readonly [string, string])[] = [
  ["", "all"],
  ["tool-errors", "with tool errors"],
  ["errors", "that failed"],
  ["truncated", "truncated"],
  ["malformed", "malformed tool calls"],
  ["incorrect", "incorrect"],
];

function Filters({ run, filter, facets }: FilterProps) {
  const set = (name: string, value: string): void => {
    const { before: _, ...rest } = filter;
    go(linkTo("episodes", run.key, "", { ...rest, [name]: value }));
  };
  const field = (name: string, label: string, type: "text" | "search" = "text") => (
    <label>
      {label}
      <input
        // Preact's types have other attributes per type.
        // oxlint-disable-next-line typescript/no-unnecessary-type-assertion
        type={type as "text"}
        inputMode={name.endsWith("Reward") ? "decimal" : "text"}
        name={name}
        value={filter[name] ?? ""}
        onChange={(event) => set(name, event.currentTarget.value)}
      />
    </label>
  );
  const choice = (name: string, label: string, values: readonly (readonly [string, string])[]) => (
    <label>
      {label}
      <select name={name} onChange={(event) => set(name, event.currentTarget.value)}>
        {values.map(([value, shown]) => (
          <option key={value} value={value} selected={(filter[name] ?? "") === value}>
            {shown}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      {field("text", "Search", "search")}
      {choice("only", "Only", onlyNames)}
      {choice("ended", "Ended", [
        ["", "any"],
        ...facets.ended.map(({ value, count }) => [value, `${value} (${whole(count)})`] as const),
      ])}
      {choice("phase", "Phase", [["", "any"], ...facets.phases.map((one) => [one, one] as const)])}
      {choice("step", "Step", [
        ["", "any"],
        ...facets.steps.slice(-500).map((step) => [String(step), String(step)] as const),
      ])}
      {field("task", "Task")}
      {field("minReward", "Reward from")}
      {field("maxReward", "Reward to")}
    </form>
  );
}

interface RowProps {
  readonly run: RunEntry;
  readonly row: EpisodeRow;
  readonly filter: Filter;
  readonly isSelected: boolean;
}

function Row({ run, row, filter, isSelected }: RowProps) {
  const { before: _, ...kept } = filter;
  const isBad = row.error !== null || row.correct === false;
  return (
    <SelectableRow isSelected={isSelected}>
      <th scope="row">
        <a href={linkTo("episode", run.key, row.n, kept)}>{row.id}</a>
      </th>
      <td class="asked" title={row.question}>
        {row.question}
      </td>
      <td class={`nowrap ${isBad ? "bad" : row.correct === true ? "good" : ""}`}>
        {isBad ? "✕ " : row.correct === true ? "✓ " : ""}
        {reward(row.reward)}
      </td>
      <td class={row.error === null ? "" : "bad"} title={row.error ?? ""}>
        {row.ended}
      </td>
      <td>{row.calls}</td>
      <td>{whole(row.responseTokens)}</td>
      <td class={row.toolErrors > 0 ? "bad" : ""}>
        {row.toolCalls}
        {row.toolErrors > 0 && ` (${row.toolErrors} failed)`}
      </td>
      <td class="preview">{row.error ?? row.preview}</td>
    </SelectableRow>
  );
}

export function EpisodesView({
  run,
  filter,
  stamp,
}: {
  run: RunEntry;
  filter: Filter;
  stamp: string;
}) {
  const { value: facets } = useRead<Facets>(`/api/runs/${run.key}/facets`, stamp);
  const query = queryOf(filter);
  // A page that was moved to stays as it is while the run goes on.
  const { value: page, error } = useRead<EpisodePage>(
    `/api/runs/${run.key}/episodes${query}`,
    filter["before"] === undefined ? stamp : "",
  );
  const rows = page?.rows ?? [];
  const { before: _, ...kept } = filter;
  const selected = useSelection(query, rows, ({ n }) => go(linkTo("episode", run.key, n, kept)));
  useKeys({
    Escape: () => go(linkTo("run", run.key)),
    "/": () => document.querySelector<HTMLInputElement>("input[type=search]")?.focus(),
  });
  const nothing =
    Object.keys(filter).length > 0
      ? ". None has all of what is filtered by."
      : run.index.isBuilding
        ? ""
        : ". None has been recorded yet.";
  return (
    <div class="stack">
      <div class="row head">
        <h1>Episodes</h1>
        <span class="dim small">
          <kbd>/</kbd> search, <kbd>j</kbd> <kbd>k</kbd> select, <kbd>Enter</kbd> opens
        </span>
      </div>
      {facets !== null && (
        <section class="panel" aria-label="Filters">
          <Filters run={run} filter={filter} facets={facets} />
        </section>
      )}
      {page === null && <Pending what="the episodes" error={error} />}
      {page !== null && (
        <section class="panel" aria-label="List of episodes">
          <p class="dim small" role="status">
            {page.isCountExact ? whole(page.count) : `more than ${whole(page.count)}`} episodes
            {run.index.isBuilding && " so far: the index is being built"}
            {rows.length === 0 && nothing}
          </p>
          <div class="scroll">
            <table>
              <TableHead
                columns={[
                  "episode",
                  "question",
                  "reward",
                  "ended",
                  "calls",
                  "tokens",
                  "tools",
                  "last response",
                ]}
              />
              <tbody>
                {rows.map((row, i) => (
                  <Row
                    key={row.n}
                    run={run}
                    row={row}
                    filter={filter}
                    isSelected={i === selected}
                  />
                ))}
              </tbody>
            </table>
          </div>
          <p class="row">
            {filter["before"] !== undefined && (
              <a href={linkTo("episodes", run.key, "", kept)}>Newest</a>
            )}
            {page.next !== null && (
              <a href={linkTo("episodes", run.key, "", { ...kept, before: String(page.next) })}>
                Older
              </a>
            )}
          </p>
        </section>
      )}
    </div>
  );
}
