/** The head of a run: its name, how far it is, and before all else why it failed. */
import type { RunEntry } from "../api/runs.ts";
import { isBadEnd } from "../run-status.ts";
import { dateText, whole } from "./format.ts";
import { linkTo } from "./route.ts";
import { useRunName } from "./run-name.tsx";

const signs: Readonly<Record<string, string>> = {
  running: "●",
  completed: "✓",
  failed: "✕",
  stopped: "✕",
  unreadable: "✕",
  untrained: "✕",
};

export function StatusPill({ status }: { status: string }) {
  const kind = isBadEnd(status) ? "bad" : status === "completed" ? "good" : "";
  return (
    <span class={`pill status ${status === "running" ? "running" : kind}`}>
      <span aria-hidden="true">{signs[status] ?? "○"}</span>
      {status}
    </span>
  );
}

export function Progress({ run }: { run: RunEntry }) {
  const { steps, totalSteps } = run;
  return (
    <span class="row progress">
      <progress
        max={Math.max(1, totalSteps ?? steps)}
        value={steps}
        aria-label={`Steps of ${run.name}`}
      />
      <span class="number nowrap">
        {whole(steps)}/{totalSteps === null ? "?" : whole(totalSteps)} steps
      </span>
    </span>
  );
}

/** Why it ended, before anything that it measured. */
function End({ run }: { run: RunEntry }) {
  if (run.reason === null) return null;
  return (
    <p class={`banner ${isBadEnd(run.status) ? "bad" : ""}`} role="alert">
      <strong>{run.status}:</strong> {run.reason}
    </p>
  );
}

export function RunHead({ run }: { run: RunEntry }) {
  const { name } = useRunName(run);
  const { index } = run;
  return (
    <>
      <End run={run} />
      <div class="row head">
        <h1>{name}</h1>
        <StatusPill status={run.status} />
        <Progress run={run} />
        <span class="dim row small">
          {name !== run.name && <span>{run.name}</span>}
          {run.model !== "" && <span>{run.model}</span>}
          <span>{run.backend}</span>
          {run.updatedAt !== null && <span>{dateText(run.updatedAt)}</span>}
          <a href={linkTo("episodes", run.key)}>{whole(index.episodes)} episodes</a>
          <span>{whole(index.calls)} calls</span>
          {index.damaged > 0 && <span>{index.damaged} damaged lines skipped</span>}
        </span>
      </div>
    </>
  );
}
