/** All runs: states, dates, what differs between them; their curves in one chart, and whether the difference is real. */
import { useState } from "preact/hooks";
import type { RunEntry, RunsApart } from "../api.ts";
import { clipText } from "../episode/visible-text.ts";
import { useChartSettings } from "./chart-settings.tsx";
import { colorOf, Curves, haveSeeds, maxCurves } from "./curves-panel.tsx";
import { Differences } from "./differences.tsx";
import { dateText, reward, whole } from "./format.ts";
import { useKeys } from "./keys.ts";
import { useRead } from "./read.ts";
import { useRemembered } from "./remember.ts";
import { go, linkTo } from "./route.ts";
import { Progress, StatusPill } from "./run-head.tsx";
import { useRunName } from "./run-name.tsx";
import { SelectableRow, useSelection } from "./selection.tsx";
import { TableHead } from "./table-head.tsx";

/** Characters of the reason in the list; the page of the run has all of it. */
const maxReason = 200;
/** Of one option's value. */
const maxValue = 40;
const maxOptions = 6;

function progress({ index }: RunEntry): string {
  if (index.bytesTotal === 0 || index.bytesRead >= index.bytesTotal) return "";
  return ` (index ${Math.floor((100 * index.bytesRead) / index.bytesTotal)} %)`;
}

/** The first finding by name; the run's page has all of them. */
function Findings({ run }: { run: RunEntry }) {
  const [first, ...others] = run.findings;
  if (first === undefined) return <></>;
  return (
    <a href={linkTo("run", run.key)}>
      {first.severity}: {first.name}
      {others.length === 0 ? "" : ` and ${others.length} more`}
    </a>
  );
}

/** The values of this run where the runs are not all the same. */
function Apart({ apart, at }: { apart: RunsApart | null; at: number }) {
  if (apart === null) return <></>;
  const options = apart.options.filter(({ values }) => values[at] !== null);
  return (
    <span class="row">
      {options.slice(0, maxOptions).map(({ key, values }) => (
        <span key={key} class="chip" title={`${key} = ${values[at]}`}>
          <span class="dim">{key.slice(key.lastIndexOf(".") + 1)}</span>{" "}
          {clipText(values[at] ?? "", maxValue)}
        </span>
      ))}
      {options.length > maxOptions && (
        <span class="dim small">and {options.length - maxOptions} more</span>
      )}
    </span>
  );
}

/** The name, which one can change. */
function Name({ run }: { run: RunEntry }) {
  const { name, onName } = useRunName(run);
  const [isEditing, setEditing] = useState(false);
  const end = (text: string): void => {
    onName(text);
    setEditing(false);
  };
  if (isEditing)
    return (
      <input
        aria-label={`Name of ${run.name}`}
        value={name}
        ref={(element) => element?.focus()}
        onBlur={(event) => end(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") end(event.currentTarget.value);
          if (event.key === "Escape") setEditing(false);
        }}
      />
    );
  return (
    <>
      <a href={linkTo("run", run.key)} title={run.path}>
        {name}
      </a>
      <button
        type="button"
        class="plain rename"
        aria-label={`Rename ${run.name}`}
        title="Give it another name, kept in this browser"
        onClick={() => setEditing(true)}
      />
    </>
  );
}

interface RowProps {
  readonly run: RunEntry;
  readonly isSelected: boolean;
  readonly apart: RunsApart | null;
  /** Of its curve; 0 for none. */
  readonly color: number;
  readonly onOverlay: () => void;
}

function RunRow({ run, isSelected, apart, color, onOverlay }: RowProps) {
  return (
    <SelectableRow isSelected={isSelected}>
      <td>
        <button
          type="button"
          class="plain swatch-button"
          aria-pressed={color > 0}
          aria-label={`Overlay ${run.name}`}
          title="Overlay its curve"
          onClick={onOverlay}
        >
          <i class="swatch" data-line={color} />
        </button>
      </td>
      <th scope="row">
        <Name run={run} />
      </th>
      <td>
        <StatusPill status={run.status} />
        {run.reason !== null && run.status !== "stopped" && (
          <div class="reason small">{clipText(run.reason, maxReason)}</div>
        )}
      </td>
      <td class="nowrap">{run.updatedAt === null ? "–" : dateText(run.updatedAt)}</td>
      <td>
        <Progress run={run} />
      </td>
      <td class="nowrap">
        {reward(run.firstReward)} → {reward(run.lastReward)}
        {run.bestValidation !== null && (
          <div class="dim small">
            best {reward(run.bestValidation.value)} at {run.bestValidation.step}
          </div>
        )}
      </td>
      <td>
        <Apart apart={apart} at={run.key} />
      </td>
      <td>
        <Findings run={run} />
      </td>
      <td>
        <a href={linkTo("episodes", run.key)}>{whole(run.index.episodes)}</a>
        {progress(run)}
      </td>
    </SelectableRow>
  );
}

export function RunsPage({ runs }: { runs: readonly RunEntry[] }) {
  const [chosen, setChosen] = useState<readonly number[] | null>(null);
  const { value: apart } = useRead<RunsApart>("/api/apart", runs.length);
  const [keptApart, setApart] = useRemembered("seeds-apart");
  const controls = useChartSettings();
  const overlaid = chosen ?? runs.slice(0, maxCurves).map(({ key }) => key);
  const toggle = (key: number): void =>
    setChosen(
      overlaid.includes(key)
        ? overlaid.filter((one) => one !== key)
        : [...overlaid, key].slice(-maxCurves),
    );
  const selected = useSelection("", runs, ({ key }) => go(linkTo("run", key)));
  useKeys({
    x: () => {
      const run = runs[selected];
      if (run !== undefined) toggle(run.key);
    },
  });
  const curves = overlaid.flatMap((key) => runs.filter((run) => run.key === key));
  const joined = keptApart === "" && haveSeeds(curves, apart) ? apart : null;
  return (
    <div class="stack">
      <div class="row head">
        <h1>Runs</h1>
        <span class="dim small">
          <kbd>j</kbd> <kbd>k</kbd> select, <kbd>Enter</kbd> opens, <kbd>x</kbd> overlays
        </span>
      </div>
      <section class="panel" aria-label="All runs">
        <div class="scroll">
          <table class="runs">
            <TableHead
              columns={[
                "curve",
                "run",
                "status",
                "written",
                "steps",
                "reward",
                "what differs",
                "health",
                "episodes",
              ]}
            />
            <tbody>
              {runs.map((run, i) => (
                <RunRow
                  key={run.key}
                  run={run}
                  isSelected={i === selected}
                  apart={apart}
                  color={colorOf(run, curves, joined)}
                  onOverlay={() => toggle(run.key)}
                />
              ))}
            </tbody>
          </table>
        </div>
      </section>
      <Curves
        runs={curves}
        all={runs.length}
        joined={joined}
        onJoin={haveSeeds(curves, apart) ? (isJoined) => setApart(isJoined ? "" : "1") : null}
        controls={controls}
      />
      <Differences runs={runs} />
    </div>
  );
}
