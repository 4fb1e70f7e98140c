/** A run in the list of runs. */
import { useState } from "preact/hooks";
import type { RunEntry } from "../api/runs.ts";
import type { RunsApart } from "../api/comparisons.ts";
import { clipText } from "../episode/visible-text.ts";
import { differingOptions } from "./differing-options.ts";
import { dateText, reward, whole } from "./format.ts";
import { OptionChips } from "./option-chips.tsx";
import { linkTo } from "./route.ts";
import { Progress, StatusPill } from "./run-head.tsx";
import { useRunName } from "./run-name.tsx";
import { SelectableRow } from "./selection.tsx";

/** Characters of the reason in the list; the page of the run has all of it. */
const maxReason = 200;

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

export function RunRow({ run, isSelected, apart, color, onOverlay }: RowProps) {
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
      <td>{apart !== null && <OptionChips options={differingOptions(apart, run.key)} />}</td>
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
