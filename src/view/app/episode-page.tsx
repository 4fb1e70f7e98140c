/** One episode: how it ended, the conversation as the model saw it, and the tokens of a call. */
import { useState } from "preact/hooks";
import type { EpisodeRow, RunEntry, ViewCall, ViewEpisode } from "../api.ts";
import { visibleText } from "../episode/visible-text.ts";
import { shortNumber, whole } from "./format.ts";
import { useKeys } from "./keys.ts";
import { LongText, Message } from "./message.tsx";
import { useRead } from "./read.ts";
import { go, linkTo, queryOf, type Route } from "./route.ts";
import { TokenInspector } from "./token-inspector.tsx";

interface CallProps {
  readonly run: number;
  readonly n: number;
  readonly call: ViewCall;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function Call({ run, n, call, isOpen, onToggle }: CallProps) {
  const facts = [
    `call ${call.k + 1}`,
    `${whole(call.promptTokens)} prompt`,
    `${whole(call.responseTokens)} response tokens`,
    `${shortNumber(call.seconds)} s`,
    `stop: ${call.stopReason}`,
    ...(call.weightVersion === null ? [] : [`weights ${call.weightVersion}`]),
  ];
  return (
    <>
      {call.break !== undefined && (
        <p class="break">
          <strong>Prefix break.</strong> {visibleText(call.break)}
        </p>
      )}
      {call.newMessages.map((message, i) => (
        <Message key={i} message={message} />
      ))}
      <Message message={call.response} />
      <div class="facts">
        <span class={call.stopReason === "length" ? "bad" : "dim"}>{facts.join(" · ")}</span>
        {call.hasTokens && (
          <button type="button" aria-expanded={isOpen} onClick={onToggle}>
            Tokens
          </button>
        )}
        {call.notes.map((note) => (
          <span key={note} class="bad">
            {visibleText(note)}
          </span>
        ))}
      </div>
      {isOpen && <TokenInspector run={run} n={n} call={call.k} />}
    </>
  );
}

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

export function EpisodePageView({ run, route }: { run: RunEntry; route: Route }) {
  const { filter, id, tokens } = route;
  const [said, setSaid] = useState("");
  const { value: view, error } = useRead<ViewEpisode>(
    `/api/runs/${run.key}/episodes/${encodeURIComponent(id)}${queryOf(filter)}`,
  );
  const n = view?.row.n ?? 0;
  const open = (other: number | null | undefined): void => {
    if (typeof other === "number") go(linkTo("episode", run.key, other, filter));
  };
  const toggle = (k: number): void =>
    go(
      linkTo("episode", run.key, id, {
        ...filter,
        ...(tokens === k ? {} : { tokens: String(k) }),
      }),
    );
  useKeys({
    j: () => open(view?.following),
    k: () => open(view?.previous),
    Escape: () => go(linkTo("episodes", run.key, "", filter)),
    c: () => void copyMarkdown(run.key, n, setSaid),
    g: () => go(linkTo("group", run.key, n)),
    t: () => toggle(tokens ?? 0),
    "/": () => go(linkTo("episodes", run.key, "", filter)),
  });
  if (error !== null) return <p role="alert">{error}</p>;
  if (view === null) return <p class="dim">Loading …</p>;
  const { row, trajectories, ending, isBad, output, signals, errorStack } = view;
  return (
    <article>
      <h1>{visibleText(row.id)}</h1>
      <p class="dim">
        task {visibleText(row.task)} · step {row.step} · {row.phase} · {row.calls} calls ·{" "}
        {whole(row.responseTokens)} tokens sampled
      </p>
      <p class={`banner ${isBad ? "bad" : "good"}`} role="status">
        {visibleText(ending)}
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
        <button type="button" onClick={() => void copyMarkdown(run.key, n, setSaid)}>
          Copy as Markdown
        </button>
        <a href={`/api/runs/${run.key}/episodes/${row.n}/markdown`}>Markdown</a>
        <a href={`/api/runs/${run.key}/episodes/${row.n}/raw`}>JSON</a>
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
      {trajectories.map(({ name, reward, calls }, i) => (
        <section key={i} aria-label={`Trajectory ${name}`}>
          {trajectories.length > 1 && (
            <h2>
              {visibleText(name)} <span class="dim">reward {shortNumber(reward)}</span>
            </h2>
          )}
          {calls.map((call) => (
            <Call
              key={call.k}
              run={run.key}
              n={row.n}
              call={call}
              isOpen={tokens === call.k}
              onToggle={() => toggle(call.k)}
            />
          ))}
        </section>
      ))}
      {output !== "" && (
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
