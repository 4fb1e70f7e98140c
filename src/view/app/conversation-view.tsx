/** The conversation of an episode as the model saw it, as far as a replay has come. */
import type { ViewCall, ViewEpisode, ViewTrajectory } from "../api/conversation.ts";
import { Call } from "./call-view.tsx";
import { shortNumber } from "./format.ts";
import type { Route } from "./parse-route.ts";
import { messagesBefore, partOf } from "./replay.ts";
import { pairResults } from "../tool-results.ts";

interface ConversationProps {
  readonly run: number;
  readonly view: ViewEpisode;
  readonly route: Route;
  /** Messages shown; null shows all. */
  readonly replay: number | null;
  readonly onOpen: (what: "tokens" | "http", k: number) => void;
}

export function Conversation({ run, view, route, replay, onOpen }: ConversationProps) {
  const before = messagesBefore(view);
  const at = replay ?? Number.POSITIVE_INFINITY;
  const calls = view.trajectories.flatMap((one) => one.calls);
  const isSaid = (call: ViewCall, message: number): boolean =>
    (before.get(call.k) ?? 0) + message < at;
  const newest = calls.findLast(({ k }) => (before.get(k) ?? 0) < at)?.k;
  const threadName = ({ threads }: ViewTrajectory, thread: number, k: number): string | null =>
    threads.length > 1 && threads[thread]?.calls[0] === k ? (threads[thread]?.name ?? null) : null;
  return (
    <>
      {view.trajectories.map((trajectory, i) => (
        <section key={i} class="conversation" aria-label={`Trajectory ${trajectory.name}`}>
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
              results={pairResults(trajectory.calls, isSaid)}
              overlay={route.overlay}
            />
          ))}
        </section>
      ))}
    </>
  );
}
