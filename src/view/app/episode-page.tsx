/** One episode: its question, what was expected and what came, the conversation, and the rest of its group. */
import { useEffect, useState } from "preact/hooks";
import type { RunEntry } from "../api/runs.ts";
import type { ViewEpisode } from "../api/conversation.ts";
import { CallTree } from "./call-tree.tsx";
import { Conversation } from "./conversation-view.tsx";
import { DiffField, History } from "./episode-links.tsx";
import { counted, whole } from "./format.ts";
import { useKeys } from "./keys.ts";
import { LongText } from "./message-text.tsx";
import { Outcome } from "./outcome.tsx";
import { OverlayChoice } from "./overlay-choice.tsx";
import { Pending } from "./pending.tsx";
import { useRead } from "./read.ts";
import { messageCount } from "./replay.ts";
import { ReplayBar, type ReplayProps, replayKeys } from "./replay-bar.tsx";
import { Siblings } from "./siblings.tsx";
import type { Route } from "./parse-route.ts";
import { go, linkTo, queryOf } from "./route.ts";

/** Of the question, in the title. */
const maxTitle = 240;

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
  const { filter, id, tokens, overlay } = route;
  const [said, setSaid] = useState("");
  const [replay, setReplay] = useState<number | null>(null);
  useEffect(() => setReplay(null), [id]);
  const { value: view, error } = useRead<ViewEpisode>(
    `/api/runs/${run.key}/episodes/${encodeURIComponent(id)}${queryOf(filter)}`,
  );
  const n = view?.row.n ?? 0;
  const kept = overlay === "" ? filter : { ...filter, overlay };
  const open = (other: number | null | undefined): void => {
    if (typeof other === "number") go(linkTo("episode", run.key, other, kept));
  };
  const toggle = (what: "tokens" | "http", k: number): void => {
    const opened = { ...kept, [what]: String(k) };
    go(linkTo("episode", run.key, id, route[what] === k ? kept : opened));
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
  const { row, metadata, instruction, trajectories, output, errorStack } = view;
  const title = instruction.trim() === "" ? row.id : instruction.trim();
  return (
    <article class="episode">
      <div class="row head">
        <h1 title={title} dir="auto">
          {title.length > maxTitle ? `${title.slice(0, maxTitle)}…` : title}
        </h1>
        <span class="row end">
          <button
            type="button"
            disabled={view.previous === null}
            onClick={() => open(view.previous)}
          >
            ← Newer
          </button>
          <button
            type="button"
            disabled={view.following === null}
            onClick={() => open(view.following)}
          >
            Older →
          </button>
        </span>
      </div>
      <p class="dim small row">
        <span class="episode-id">{row.id}</span>
        <span>
          task <a href={linkTo("tasks", run.key, "", { find: row.task })}>{row.task}</a>
        </span>
        <span>
          step {row.step} · {row.phase} · {counted(row.calls, "call")} · {whole(row.responseTokens)}{" "}
          tokens sampled
        </span>
        <a href={linkTo("group", run.key, row.n)}>Rollouts of this task</a>
      </p>
      <Outcome view={view} />
      <div class="columns">
        <div class="stack">
          <div class="row toolbar">
            <OverlayChoice
              overlay={overlay}
              onChoose={(chosen) =>
                go(
                  linkTo(
                    "episode",
                    run.key,
                    id,
                    chosen === "" ? filter : { ...filter, overlay: chosen },
                  ),
                )
              }
            />
            <button type="button" disabled={count === 0} onClick={() => setReplay(1)}>
              Replay
            </button>
            <button type="button" onClick={() => void copyMarkdown(run.key, n, setSaid)}>
              Copy as Markdown
            </button>
            <a class="small" href={`/api/runs/${run.key}/episodes/${row.n}/markdown`}>
              Markdown
            </a>
            <a class="small" href={`/api/runs/${run.key}/episodes/${row.n}/raw`}>
              JSON
            </a>
            <span role="status">{said}</span>
          </div>
          <CallTree
            trajectories={trajectories}
            onCall={(k) => document.querySelector(`#call-${k}`)?.scrollIntoView()}
          />
          {replay !== null && <ReplayBar {...bar} />}
          <Conversation run={run.key} view={view} route={route} replay={replay} onOpen={toggle} />
          {replay === null && output !== "" && (
            <details class="small">
              <summary class="dim">what the agent returned</summary>
              <LongText text={output} kind="output" />
            </details>
          )}
          {errorStack !== null && (
            <details>
              <summary class="bad">Stack of the error</summary>
              <LongText text={errorStack} kind="error" />
            </details>
          )}
        </div>
        <aside class="stack" aria-label="Next to this episode">
          <Siblings run={run} n={row.n} />
          <section class="panel small stack" aria-label="More">
            <History run={run.key} row={row} filter={kept} />
            <DiffField run={run.key} n={row.n} />
            {metadata !== "" && (
              <details>
                <summary class="dim">Metadata of the task</summary>
                <LongText text={metadata} kind="metadata" />
              </details>
            )}
          </section>
        </aside>
      </div>
    </article>
  );
}
