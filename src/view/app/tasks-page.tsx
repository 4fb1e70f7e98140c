/** Which tasks are learned, and when: a row for each task, a column for each step, the reward as color. */
import type { RunEntry } from "../api/runs.ts";
import type { TaskFate, TaskMap } from "../api/tasks.ts";
import { whole } from "./format.ts";
import { Pending } from "./pending.tsx";
import { useRead } from "./read.ts";
import { go, linkTo, queryOf } from "./route.ts";
import { Legend, MapTable } from "./task-map-table.tsx";
import { orders } from "./task-strip.ts";

const fates: readonly (readonly [TaskFate, string, string])[] = [
  ["learned", "▲", "learned"],
  ["lost", "▼", "lost"],
  ["always", "✓", "always solved"],
  ["never", "✕", "never solved"],
];

interface TasksProps {
  readonly run: RunEntry;
  readonly filter: Readonly<Record<string, string>>;
  readonly stamp: string;
}

export function TasksPage({ run, filter, stamp }: TasksProps) {
  const { phase } = filter;
  const { value: map, error } = useRead<TaskMap>(
    `/api/runs/${run.key}/tasks${queryOf({ phase })}`,
    stamp,
  );
  const set = (name: string, value: string): void =>
    go(linkTo("tasks", run.key, "", { ...filter, [name]: value }));
  const { sort = "gain", fate = "", find = "" } = filter;
  return (
    <div class="stack">
      <div class="row head">
        <h1>Tasks by steps</h1>
        <span class="dim">which are learned, and when</span>
      </div>
      {map === null && <Pending what="the tasks" error={error} />}
      {map !== null && map.tasks === 0 && (
        <p class="panel dim">
          No episode has been recorded yet{run.index.isBuilding ? ": the index is being built" : ""}
          .
        </p>
      )}
      {map !== null && map.tasks > 0 && (
        <section class="panel" aria-label="Map of rewards">
          <header>
            {map.phases.length > 1 && (
              <label class="row small">
                Tasks of
                <select onChange={(event) => set("phase", event.currentTarget.value)}>
                  {map.phases.map((one) => (
                    <option key={one} value={one} selected={one === map.phase}>
                      {one}
                    </option>
                  ))}
                </select>
              </label>
            )}
            <label class="row small">
              Sorted by
              <select onChange={(event) => set("sort", event.currentTarget.value)}>
                {Object.keys(orders).map((name) => (
                  <option key={name} value={name} selected={name === sort}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
            <label class="row small">
              Find
              <input
                type="search"
                value={find}
                onChange={(event) => set("find", event.currentTarget.value)}
              />
            </label>
            <span class="row fates" role="group" aria-label="Only tasks that are">
              {fates.map(([name, sign, text]) => (
                <button
                  key={name}
                  type="button"
                  class="pill"
                  aria-pressed={fate === name}
                  onClick={() => set("fate", fate === name ? "" : name)}
                >
                  <span aria-hidden="true">{sign}</span> {whole(map.fates[name])} {text}
                </button>
              ))}
            </span>
          </header>
          <Legend map={map} />
          <MapTable key={map.phase} run={run} map={map} filter={filter} />
          {map.rows.length < map.tasks && (
            <p class="dim small">
              The {whole(map.rows.length)} tasks that gained the most of {whole(map.tasks)}.
            </p>
          )}
        </section>
      )}
    </div>
  );
}
