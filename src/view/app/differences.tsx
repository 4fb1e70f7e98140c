/** Runs against one of them: differences with intervals, and the tasks that changed. */
import { useState } from "preact/hooks";
import type { Difference, RunsCompared } from "../api/comparisons.ts";
import type { RunEntry } from "../api/runs.ts";
import { diffLink } from "./diff-page.tsx";
import { counted, reward, shortNumber, signed, whole } from "./format.ts";
import { useRead } from "./read.ts";
import { linkTo } from "./route.ts";
import { TableHead } from "./table-head.tsx";

const colors = { better: "good", worse: "bad" } as const;

interface IntervalProps {
  readonly of: Difference | null;
  /** Only of the difference that decides. */
  readonly verdict?: RunsCompared["verdict"];
}

function Interval({ of, verdict = null }: IntervalProps) {
  if (of === null) return <td class="dim">–</td>;
  const { a, b, difference, low, high } = of;
  const interval =
    low === null || high === null ? "too few tasks" : `${signed(low)} to ${signed(high)}`;
  return (
    <td>
      {shortNumber(a)} → {shortNumber(b)}{" "}
      <span class={verdict === null ? "dim" : colors[verdict]}>
        {signed(difference)} ({interval})
      </span>
    </td>
  );
}

interface AgainstProps {
  readonly base: RunEntry;
  readonly run: RunEntry;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function Against({ base, run, isOpen, onToggle }: AgainstProps) {
  const { value: compared, error } = useRead<RunsCompared>(
    `/api/runs/${run.key}/against/${base.key}`,
    `${base.index.episodes}/${run.index.episodes}`,
  );
  return (
    <>
      <tr>
        <th scope="row">
          <a href={linkTo("run", run.key)}>{run.name}</a>
        </th>
        {error !== null && <td colSpan={4}>{error}</td>}
        {compared === null && error === null && <td colSpan={4}>comparing …</td>}
        {compared !== null && (
          <>
            <td>
              {compared.b} <span class="dim">against {compared.a}</span>
            </td>
            <td>{compared.tasks === 0 ? "none in common" : whole(compared.tasks)}</td>
            <Interval of={compared.reward} verdict={compared.verdict} />
            <Interval
              of={compared.pass}
              verdict={compared.reward === null ? compared.verdict : null}
            />
            <td>
              <button type="button" aria-expanded={isOpen} onClick={onToggle}>
                {counted(compared.changed.length, "task")},{" "}
                {counted(Object.keys(compared.options).length, "option")}
              </button>
            </td>
          </>
        )}
      </tr>
      {isOpen && compared !== null && (
        <tr>
          <td colSpan={6}>
            <Details base={base} run={run} compared={compared} />
          </td>
        </tr>
      )}
    </>
  );
}

interface DetailsProps {
  readonly base: RunEntry;
  readonly run: RunEntry;
  readonly compared: RunsCompared;
}

/** Either side of a task that changed can be opened, and both together. */
function Details({ base, run, compared }: DetailsProps) {
  const { options, changed, tasks } = compared;
  return (
    <>
      {tasks === 0 && <p class="dim">The two have no task in common.</p>}
      {Object.entries(options).map(([name, [a, b]]) => (
        <p key={name}>
          <code>{name}</code> {a ?? "–"} → {b ?? "–"}
        </p>
      ))}
      <ul>
        {changed.map(({ task, a, b, episodeA, episodeB }) => (
          <li key={task}>
            {task}: {reward(a)} → {reward(b)}{" "}
            {episodeA !== null && (
              <a href={linkTo("episode", base.key, episodeA)}>open {base.name}</a>
            )}{" "}
            {episodeB !== null && (
              <a href={linkTo("episode", run.key, episodeB)}>open {run.name}</a>
            )}{" "}
            {episodeA !== null && episodeB !== null && (
              <a href={diffLink(base.key, episodeA, episodeB, run.key)}>side by side</a>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

export function Differences({ runs }: { runs: readonly RunEntry[] }) {
  const [baseKey, setBase] = useState(0);
  const [open, setOpen] = useState<number | null>(null);
  const base = runs.find(({ key }) => key === baseKey) ?? runs[0];
  const others = runs.filter(({ key }) => key !== base?.key);
  if (base === undefined || others.length === 0) return null;
  return (
    <section aria-label="Differences" class="panel">
      <header>
        <h2>Is the difference real?</h2>
        <label class="row small">
          Against
          <select
            value={String(base.key)}
            onChange={(event) => setBase(Number(event.currentTarget.value))}
          >
            {runs.map(({ key, name }) => (
              <option key={key} value={String(key)}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </header>
      <p class="dim small">
        On tasks that both have: evaluations or last validations where both runs have some, else the
        newest training steps. Intervals are those of agent-trainer compare: 95 %, of a paired
        sign-flip test over tasks. The difference in reward decides.
      </p>
      <div class="scroll">
        <table>
          <TableHead columns={["run", "compared", "tasks", "reward", "correct", "what differs"]} />
          <tbody>
            {others.slice(0, 20).map((run) => (
              <Against
                key={`${base.key}/${run.key}`}
                base={base}
                run={run}
                isOpen={open === run.key}
                onToggle={() => setOpen(open === run.key ? null : run.key)}
              />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
