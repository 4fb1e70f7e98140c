/** The page: a header with where one is, and the view that the address names. */
import { render } from "preact";
import type { RunEntry } from "../api.ts";
import { DiffPage } from "./diff-page.tsx";
import { EpisodePageView } from "./episode-page.tsx";
import { EpisodesView } from "./episodes-view.tsx";
import { GroupPage } from "./group-page.tsx";
import { HelpDialog } from "./help-dialog.tsx";
import { Pending } from "./pending.tsx";
import { useLive, useRead } from "./read.ts";
import type { Route } from "./parse-route.ts";
import { linkTo, useRoute } from "./route.ts";
import { RunPage } from "./run-page.tsx";
import { RunsPage } from "./runs-page.tsx";
import { visibleText } from "../episode/visible-text.ts";
import { showHiddenCharacters } from "./visible-nodes.ts";
import "./app.css";
import "uplot/dist/uPlot.min.css";

function View({ route, runs, stamp }: { route: Route; runs: readonly RunEntry[]; stamp: string }) {
  const run = runs.find(({ key }) => key === route.run);
  if (route.page === "runs") return <RunsPage runs={runs} />;
  if (route.page === "diff") return <DiffPage runs={runs} route={route} />;
  if (route.page === "unknown") return <p role="alert">There is no such page.</p>;
  if (run === undefined) return <p role="alert">There is no such run.</p>;
  switch (route.page) {
    case "run":
      return <RunPage key={run.key} run={run} stamp={stamp} />;
    case "episodes":
      return <EpisodesView key={run.key} run={run} filter={route.filter} stamp={stamp} />;
    case "episode":
      return <EpisodePageView run={run} route={route} />;
    case "group":
      return <GroupPage run={run} id={route.id} />;
    default:
      return <p role="alert">There is no such page.</p>;
  }
}

function Header({ route, run }: { route: Route; run: RunEntry | undefined }) {
  return (
    <header>
      <nav aria-label="Where you are">
        <a href="#/runs">Runs</a>
        {run !== undefined && route.page !== "runs" && (
          <>
            <span aria-hidden="true">/</span>
            <a href={linkTo("run", run.key)}>{run.name}</a>
            <span aria-hidden="true">/</span>
            <a href={linkTo("episodes", run.key, "", route.filter)}>Episodes</a>
          </>
        )}
      </nav>
      <HelpDialog />
    </header>
  );
}

function App() {
  const route = useRoute();
  const stamps = useLive();
  const all = [...stamps.values()].join(";");
  const { value: runs, error } = useRead<readonly RunEntry[]>("/api/runs", all);
  const run = runs?.find(({ key }) => key === route.run);
  document.title = visibleText(
    `${run === undefined || route.page === "runs" ? "Runs" : run.name}${route.id === "" ? "" : ` – ${route.id}`} – agent-trainer`,
  );
  return (
    <>
      <Header route={route} run={run} />
      <main>
        {runs === null && <Pending what="the runs" error={error} />}
        {runs !== null && <View route={route} runs={runs} stamp={stamps.get(route.run) ?? ""} />}
      </main>
    </>
  );
}

showHiddenCharacters();
const place = document.querySelector("#app");
if (place !== null) {
  place.textContent = "";
  render(<App />, place);
}
