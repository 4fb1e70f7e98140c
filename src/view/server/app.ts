/** The viewer as a function of a request: pages, what they read, and news as server-sent events. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import { AgentTrainerError } from "../../core/errors.ts";
import { viewEpisode } from "../episode/view-episode.ts";
import { callHttp } from "../episode/exchange.ts";
import { groupView, rolloutView, siblingsOf } from "../episode/group-view.ts";
import { episodeMarkdown } from "../episode/markdown.ts";
import { tokenView } from "../episode/token-view.ts";
import { costOfReward, formatCost } from "../../runs/cost-of-reward.ts";
import { readChangedOptions, readOptions } from "../../runs/read-options.ts";
import { exampleEpisode } from "../index/example-episode.ts";
import {
  facets,
  findByName,
  groupRows,
  listEpisodes,
  neighbours,
  phaseSteps,
  questionsOf,
  scoredRows,
  taskHistory,
} from "../index/query.ts";
import { runChanges } from "../changes.ts";
import { compareInView } from "../compare.ts";
import { rewardParts } from "../reward-parts.ts";
import { metricTable } from "../metric-table.ts";
import { runsApart } from "../runs-apart.ts";
import { taskMap } from "../task-map.ts";
import { isPhase, mainPhase } from "../phases.ts";
import { requireToken } from "./access.ts";
import { healthSection } from "./documentation.ts";
import { parseFilter } from "./query-filter.ts";
import { type FindFeedback, roundRows } from "./rounds.ts";
import type { ViewedRun } from "./viewed-run.ts";

export interface ViewAppOptions {
  readonly runs: readonly ViewedRun[];
  readonly token: string;
  readonly host: string;
  /** Folder with `index.html`, `app.js` and `app.css`. */
  readonly assets: string;
  /** What users said of the models of rounds. @default nothing is known */
  readonly findFeedback?: FindFeedback | undefined;
  /** How often news is looked for. @default 1000 */
  readonly pollMs?: number;
}

/** Newest episodes that correlations are computed from. */
const partRows = 2000;

const assetTypes: ReadonlyMap<string, string> = new Map([
  ["app.js", "text/javascript; charset=utf-8"],
  ["app.css", "text/css; charset=utf-8"],
]);

/** A configuration that cannot be read says nothing of what differs; the run's status says why. */
function optionsOf(folder: string): ReadonlyMap<string, string> {
  try {
    return readOptions(folder);
  } catch {
    return new Map();
  }
}

export function createViewApp(options: ViewAppOptions): Hono {
  const { runs, token, host, assets, findFeedback, pollMs = 1000 } = options;
  const app = new Hono();
  app.use(requireToken(token, host));
  // Errors of the system name files of this machine; the terminal shows them, and the page their kind.
  app.onError((error, context) => {
    if (AgentTrainerError.isInstance(error)) return context.json({ error: error.message }, 500);
    console.error(error);
    const { code = error.name } = error as NodeJS.ErrnoException;
    return context.json({ error: `The viewer could not answer: ${code}.` }, 500);
  });

  app.get("/", async (context) => context.html(await readFile(join(assets, "index.html"), "utf8")));
  app.get("/favicon.ico", (context) => context.body(null, 204));
  app.get("/assets/:name", async (context) => {
    const name = context.req.param("name");
    const type = assetTypes.get(name);
    if (type === undefined) return context.notFound();
    return context.body(await readFile(join(assets, name)), 200, { "content-type": type });
  });

  app.get("/api/runs", async (context) =>
    context.json(await Promise.all(runs.map((run) => run.entry()))),
  );

  app.get("/api/apart", (context) =>
    context.json(runsApart(runs.map(({ folder }) => optionsOf(folder)))),
  );

  app.get("/api/rounds", (context) => context.json(roundRows(runs, findFeedback)));

  app.get("/api/docs/:anchor", (context) => {
    const text = healthSection(context.req.param("anchor"));
    return text === null ? context.notFound() : context.json({ text });
  });

  const inRun = new Hono<{ Variables: { run: ViewedRun } }>();
  inRun.use("/:run/*", async (context, next) => {
    const run = runs[Number(context.req.param("run"))];
    if (run === undefined) return context.json({ error: "There is no such run." }, 404);
    context.set("run", run);
    return next();
  });

  inRun.get("/:run/facets", (context) => context.json(facets(context.var.run.index.db)));
  inRun.get("/:run/metrics", async (context) => {
    const { run } = context.var;
    // Of a long run these are megabytes: they are made once for all who read them.
    const text = await run.once("table", async () =>
      JSON.stringify(metricTable(await run.metricLines())),
    );
    return context.body(text, 200, { "content-type": "application/json" });
  });
  inRun.get("/:run/health", async (context) => {
    const { run } = context.var;
    const { index } = run;
    const found = await run.health();
    return context.json(found.map((one) => ({ ...one, example: exampleEpisode(index.db, one) })));
  });
  inRun.get("/:run/options", (context) => context.json(readChangedOptions(context.var.run.folder)));
  inRun.get("/:run/cost", async (context) => {
    const cost = costOfReward(await context.var.run.metricLines());
    return context.json(cost === null ? null : { ...cost, text: formatCost(cost) });
  });

  inRun.get("/:run/episodes", (context) => {
    const parsed = parseFilter(context.req.query());
    if (typeof parsed === "string") return context.json({ error: parsed }, 400);
    return context.json(listEpisodes(context.var.run.index.db, parsed.filter, parsed.before));
  });

  inRun.get("/:run/episodes/:n/:what?", async (context) => {
    const { index } = context.var.run;
    const { call = "0", ...query } = context.req.query();
    const parsed = parseFilter(query);
    if (typeof parsed === "string") return context.json({ error: parsed }, 400);
    const row = findByName(index.db, context.req.param("n"));
    const episode = row === null ? null : index.episode(row.n);
    if (row === null || episode === null)
      return context.json({ error: "There is no such episode, or its file has changed." }, 404);
    const what = context.req.param("what");
    if (what === "tokens") {
      const group = groupRows(index.db, row.step, row.phase, row.task).map(({ reward }) => reward);
      const decode = await context.var.run.decoder();
      const kept = context.var.run.kept(row);
      const tokens = tokenView(episode, Number(call), { phase: row.phase, group, decode, kept });
      return tokens === null
        ? context.json({ error: "There is no such call." }, 404)
        : context.json(tokens);
    }
    if (what === "responses")
      return context.json(rolloutView(row, episode, await context.var.run.decoder()));
    if (what === "http") {
      const http = callHttp(context.var.run.folder, episode, Number(call));
      return http === null
        ? context.json({ error: "There is no such call." }, 404)
        : context.json(http);
    }
    const near = neighbours(index.db, row.n, parsed.filter);
    const view = viewEpisode(episode, row, near);
    if (what === "markdown") return context.text(episodeMarkdown(view));
    if (what === "raw") return context.json(episode as object);
    return what === undefined ? context.json(view) : context.notFound();
  });

  inRun.get("/:run/groups/:n", async (context) => {
    const { index } = context.var.run;
    const row = findByName(index.db, context.req.param("n"));
    if (row === null) return context.json({ error: "There is no such episode." }, 404);
    const rows = groupRows(index.db, row.step, row.phase, row.task);
    const episodes = rows.map(({ n }) => index.episode(n));
    return context.json(groupView(rows, episodes, await context.var.run.decoder()));
  });

  inRun.get("/:run/siblings/:n", (context) => {
    const { index } = context.var.run;
    const row = findByName(index.db, context.req.param("n"));
    if (row === null) return context.json({ error: "There is no such episode." }, 404);
    const rows = groupRows(index.db, row.step, row.phase, row.task);
    return context.json(
      siblingsOf(
        row.n,
        rows,
        rows.map(({ n }) => index.episode(n)),
      ),
    );
  });

  inRun.get("/:run/history/:n", (context) => {
    const { db } = context.var.run.index;
    const row = findByName(db, context.req.param("n"));
    return context.json(row === null ? [] : taskHistory(db, row.task, row.phase));
  });
  inRun.get("/:run/tasks", async (context) => {
    const { run } = context.var;
    const { db } = run.index;
    const known = phaseSteps(db);
    const phases = known.map(({ phase }) => phase);
    const given = context.req.query("phase") ?? mainPhase(known);
    if (!isPhase(given)) return context.json({ error: `phase: there is no ${given}` }, 400);
    const questions = (numbers: readonly number[]) => questionsOf(db, numbers);
    return context.json(taskMap(await run.cells(given), { phase: given, phases, questions }));
  });
  inRun.get("/:run/changes", async (context) => {
    const { run } = context.var;
    const { db } = run.index;
    const phase = mainPhase(phaseSteps(db));
    return context.json(runChanges(await run.cells(phase), phase, (n) => questionsOf(db, n)));
  });
  inRun.get("/:run/parts", (context) => {
    const until = context.req.query("step") ?? "";
    if (!/^\d{0,15}$/u.test(until)) return context.json({ error: "step: not a step" }, 400);
    const step = until === "" ? null : Number(until);
    return context.json(rewardParts(scoredRows(context.var.run.index.db, step, partRows)));
  });
  inRun.get("/:run/against/:other", (context) => {
    const other = runs[Number(context.req.param("other"))];
    if (other === undefined) return context.json({ error: "There is no such run." }, 404);
    return context.json(compareInView(other, context.var.run));
  });
  app.route("/api/runs", inRun);

  app.get("/api/live", (context) =>
    streamSSE(context, async (stream) => {
      const seen = new Map<number, string>();
      while (!stream.aborted && !stream.closed) {
        for (const run of runs) {
          const { episodes, bytesRead, isBuilding } = run.index.state();
          const stamp = `${run.stamp()}/${episodes}/${bytesRead}/${isBuilding}`;
          if (seen.get(run.key) === stamp) continue;
          seen.set(run.key, stamp);
          await stream.writeSSE({ event: "change", data: JSON.stringify({ key: run.key, stamp }) });
        }
        await stream.sleep(pollMs);
      }
    }),
  );
  return app;
}
