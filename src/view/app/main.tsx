/** The page: a header with where one is, and the view that the address names. */
import { render, options, type VNode } from "preact";
import type { RunEntry } from "../api/runs.ts";
import { DiffPage } from "./diff-page.tsx";
import { EpisodePageView } from "./episode-page.tsx";
import { EpisodesView } from "./episodes-view.tsx";
import { GroupPage } from "./group-page.tsx";
import { Pending } from "./pending.tsx";
import { useLive, useRead } from "./read.ts";
import type { Route } from "./parse-route.ts";
import { useRoute } from "./route.ts";
import { RoundsPage } from "./rounds-page.tsx";
import { RunPage } from "./run-page.tsx";
import { RunsPage } from "./runs-page.tsx";
import { TasksPage } from "./tasks-page.tsx";
import { applyTheme } from "./theme.ts";
import { Header } from "./header.tsx";
import { visibleText } from "../episode/visible-text.ts";
import "uplot/dist/uPlot.min.css";
import "./style/tokens.css";
import "./style/base.css";
import "./style/conversation.css";
import "./style/app.css";
import "./style/pages.css";

/** No text and no label of an element hides or reorders characters, wherever it is from. */
const labels = ["title", "aria-label", "aria-valuetext", "placeholder"] as const;

/** Text has no type, and is its own properties. */
function makeVisible(node: VNode): void {
  const { type, props } = node as unknown as { type: unknown; props: unknown };
  if (typeof props === "string") node.props = visibleText(props) as unknown as typeof node.props;
  if (typeof type !== "string") return;
  const own = props as Record<string, unknown>;
  for (const label of labels) {
    const value = own[label];
    if (typeof value === "string") own[label] = visibleText(value);
  }
}

/** Call it once, before anything is rendered. */
function showHiddenCharacters(): void {
  options.vnode = makeVisible;
}

function Missing({ what }: { what: string }) {
  return (
    <p class="banner" role="alert">
      There is no such {what}. <a href="#/runs">All runs</a>
    </p>
  );
}

interface ViewProps {
  readonly route: Route;
  readonly runs: readonly RunEntry[];
  /** Of the run. */
  readonly stamp: string;
  /** Of all runs. */
  readonly stamps: string;
}

function View({ route, runs, stamp, stamps }: ViewProps) {
  const run = runs.find(({ key }) => key === route.run);
  if (route.page === "runs") return <RunsPage runs={runs} />;
  if (route.page === "rounds") return <RoundsPage stamp={stamps} />;
  if (route.page === "diff") return <DiffPage runs={runs} route={route} />;
  if (route.page === "unknown") return <Missing what="page" />;
  if (run === undefined) return <Missing what="run" />;
  switch (route.page) {
    case "run":
      return <RunPage key={run.key} run={run} stamp={stamp} />;
    case "tasks":
      return <TasksPage key={run.key} run={run} filter={route.filter} stamp={stamp} />;
    case "episodes":
      return <EpisodesView key={run.key} run={run} filter={route.filter} stamp={stamp} />;
    case "episode":
      return <EpisodePageView run={run} route={route} />;
    case "group":
      return <GroupPage run={run} id={route.id} />;
    default:
      return <Missing what="page" />;
  }
}

function App() {
  const route = useRoute();
  const { stamps, isConnected, isReady } = useLive();
  const all = [...stamps.values()].join(";");
  const { value: runs, error } = useRead<readonly RunEntry[]>(isReady ? "/api/runs" : null, all);
  const run = runs?.find(({ key }) => key === route.run);
  document.title = visibleText(
    `${route.page === "rounds" ? "Rounds" : run === undefined || route.page === "runs" ? "Runs" : run.name}${route.id === "" ? "" : ` – ${route.id}`} – agent-trainer`,
  );
  return (
    <>
      <Header route={route} run={run} isConnected={isConnected} />
      <main>
        {runs === null && <Pending what="the runs" error={error} />}
        {runs !== null && (
          <View route={route} runs={runs} stamp={stamps.get(route.run) ?? ""} stamps={all} />
        )}
      </main>
    </>
  );
}

showHiddenCharacters();
applyTheme();
const place = document.querySelector("#app");
if (place !== null) {
  place.textContent = "";
  render(<App />, place);
}
