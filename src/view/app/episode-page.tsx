/** One episode: how it ended, the conversation as the model saw it, and the tokens of a call. */
import { useEffect, useState } from "preact/hooks";
import type { EpisodeRow, RunEntry, ViewEpisode, ViewTrajectory } from "../api.ts";
import { CallTree } from "./call-tree.tsx";
import { Call } from "./call-view.tsx";
import { diffLink } from "./diff-page.tsx";
import { counted, shortNumber, whole } from "./format.ts";
import { type KeyHandlers, useKeys } from "./keys.ts";
import { LongText } from "./message.tsx";
import { Pending } from "./pending.tsx";
import { useRead } from "./read.ts";
import { messageCount, messagesBefore, partOf } from "./replay.ts";
import type { Route } from "./parse-route.ts";
import { go, linkTo, queryOf } from "./route.ts";

/** The same task at other steps. */
function History({ run, row, filter }: { run: number; row: EpisodeRow; filter: Route["filter"] }) {
  const { value: rows } = useRead<readonly EpisodeRow[]>(`/api/runs/${run}/history/${row.n}`);
  if (rows === null || rows.length < 2) return null;
  const at = Math.max(
    0,
    rows.findIndex(({ step }) => step >= row.step),
  );
  return (
    <label class="grow">
      This task at step {row.step} ({rows.length} recorded)
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

async function copyMarkdown(run: number, n: number, say: (text: string) => void): Promise<void> {
  try {
    const response = await fetch(`/api/runs/${run}/episodes/${n}/markdown`);
    await navigator.clipboard.writeText(await response.text());
    say("Copied as Markdown.");
  } catch {
    say("The browser did not allow copying; use the link to the Markdown.");
  }
}

interface ReplayProps {
  /** Messages shown. */
  readonly at: number;
  readonly count: number;
  readonly onMove: (at: number) => void;
  readonly onEnd: () => void;
}

function ReplayBar({ at, count, onMove, onEnd }: ReplayProps) {
  return (
    <div class="row replay">
      <button type="button" disabled={at <= 1} onClick={() => onMove(at - 1)}>
        ← Before
      </button>
      <span role="status">
        message {at} of {count}
      </span>
      <button type="button" disabled={at >= count} onClick={() => onMove(at + 1)}>
        Next →
      </button>
      <button type="button" onClick={onEnd}>
        Show all
      </button>
      <span class="dim">
        <kbd>→</kbd> <kbd>←</kbd> <kbd>Home</kbd> <kbd>End</kbd>, <kbd>r</kbd> ends it
      </span>
    </div>
  );
}

interface ConversationProps {
  readonly run: number;
  readonly view: ViewEpisode;
  readonly route: Route;
  /** Messages shown; null shows all. */
  readonly replay: number | null;
  readonly onOpen: (what: "tokens" | "http", k: number) => void;
}

function Conversation({ run, view, route, replay, onOpen }: ConversationProps) {
  const before = messagesBefore(view);
  const at = replay ?? Number.POSITIVE_INFINITY;
  const calls = view.trajectories.flatMap((one) => one.calls);
  const newest = calls.findLast(({ k }) => (before.get(k) ?? 0) < at)?.k;
  const threadName = ({ threads }: ViewTrajectory, thread: number, k: number): string | null =>
    threads.length > 1 && threads[thread]?.calls[0] === k ? (threads[thread]?.name ?? null) : null;
  return (
    <>
      {view.trajectories.map((trajectory, i) => (
        <section key={i} aria-label={`Trajectory ${trajectory.name}`}>
          {view.trajectories.length > 1 && (
            <h2>
              {trajectory.name} <span class="dim">reward {shortNumber(trajectory.reward)}</span>
            </h2>
          )}
          {trajectory.calls.map((call) => (
            <Call
              key={call.k}
              run={run}
              n={view.row.n}
              call={call}
              depth={trajectory.threads[call.thread]?.depth ?? 0}
              threadName={threadName(trajectory, call.thread, call.k)}
              isOpen={route.tokens === call.k}
              isHttpOpen={route.http === call.k}
              onToggle={() => onOpen("tokens", call.k)}
              onToggleHttp={() => onOpen("http", call.k)}
              said={partOf(call, before.get(call.k) ?? 0, at)}
              isNewest={replay !== null && newest === call.k}
            />
          ))}
        </section>
      ))}
    </>
  );
}

/** Keys of a replay, which take the place of those that lead to other episodes. */
function replayKeys({ at, count, onMove, onEnd }: ReplayProps): KeyHandlers {
  const to = (next: number) => () => onMove(Math.max(1, Math.min(count, next)));
  return {
    ArrowRight: to(at + 1),
    ArrowLeft: to(at - 1),
    " ": to(at + 1),
    j: to(at + 1),
    k: to(at - 1),
    Home: to(1),
    End: to(count),
    r: onEnd,
    Escape: onEnd,
  };
}

function DiffField({ run, n }: { run: number; n: number }) {
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

export function EpisodePageView({ run, route }: { run: RunEntry; route: Route }) {
  const { filter, id, tokens } = route;
  const [said, setSaid] = useState("");
  const [replay, setReplay] = useState<number | null>(null);
  useEffect(() => setReplay(null), [id]);
  const { value: view, error } = useRead<ViewEpisode>(
    `/api/runs/${run.key}/episodes/${encodeURIComponent(id)}${queryOf(filter)}`,
  );
  const n = view?.row.n ?? 0;
  const open = (other: number | null | undefined): void => {
    if (typeof other === "number") go(linkTo("episode", run.key, other, filter));
  };
  const toggle = (what: "tokens" | "http", k: number): void => {
    const opened = { ...filter, [what]: String(k) };
    go(linkTo("episode", run.key, id, route[what] === k ? filter : opened));
  };
  const count = view === null ? 0 : messageCount(view);
  const bar: ReplayProps = {
    at: replay ?? 0,
    count,
    onMove: setReplay,
    onEnd: () => setReplay(null),
  };
  useKeys({
    j: () => open(view?.following),
    k: () => open(view?.previous),
    Escape: () => go(linkTo("episodes", run.key, "", filter)),
    c: () => void copyMarkdown(run.key, n, setSaid),
    g: () => go(linkTo("group", run.key, n)),
    t: () => toggle("tokens", tokens ?? 0),
    h: () => toggle("http", route.http ?? 0),
    r: () => {
      if (count > 0) setReplay(1);
    },
    "/": () => go(linkTo("episodes", run.key, "", filter)),
    ...(replay === null ? {} : replayKeys(bar)),
  });
  if (view === null) return <Pending what="the episode" error={error} />;
  const { row, metadata, trajectories, ending, isBad, output, signals, errorStack } = view;
  return (
    <article>
      <h1>{row.id}</h1>
      <p class="dim">
        task {row.task} · step {row.step} · {row.phase} · {counted(row.calls, "call")} ·{" "}
        {whole(row.responseTokens)} tokens sampled
      </p>
      <p class={`banner ${isBad ? "bad" : "good"}`} role="status">
        {ending}
      </p>
      <div class="row">
        <button type="button" disabled={view.previous === null} onClick={() => open(view.previous)}>
          ← Newer
        </button>
        <button
          type="button"
          disabled={view.following === null}
          onClick={() => open(view.following)}
        >
          Older →
        </button>
        <a href={linkTo("group", run.key, row.n)}>Rollouts of this task</a>
        <button type="button" disabled={count === 0} onClick={() => setReplay(1)}>
          Replay
        </button>
        <button type="button" onClick={() => void copyMarkdown(run.key, n, setSaid)}>
          Copy as Markdown
        </button>
        <a href={`/api/runs/${run.key}/episodes/${row.n}/markdown`}>Markdown</a>
        <a href={`/api/runs/${run.key}/episodes/${row.n}/raw`}>JSON</a>
        <DiffField run={run.key} n={row.n} />
        <span role="status">{said}</span>
        <History run={run.key} row={row} filter={filter} />
      </div>
      {Object.keys(signals).length > 0 && (
        <p>
          {Object.entries(signals).map(([name, value]) => (
            <span key={name} class="chip">
              {name} {shortNumber(value)}
            </span>
          ))}
        </p>
      )}
      {metadata !== "" && (
        <details>
          <summary>Metadata of the task, such as its expected answer</summary>
          <LongText text={metadata} kind="metadata" />
        </details>
      )}
      <CallTree
        trajectories={trajectories}
        onCall={(k) => document.querySelector(`#call-${k}`)?.scrollIntoView()}
      />
      {replay !== null && <ReplayBar {...bar} />}
      <Conversation run={run.key} view={view} route={route} replay={replay} onOpen={toggle} />
      {replay === null && output !== "" && (
        <>
          <div class="role">output</div>
          <LongText text={output} kind="output" />
        </>
      )}
      {errorStack !== null && (
        <details>
          <summary class="bad">Stack of the error</summary>
          <LongText text={errorStack} kind="error" />
        </details>
      )}
    </article>
  );
}
