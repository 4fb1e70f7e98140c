import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type {
  EpisodePage,
  GroupMember,
  MetricTable,
  RunEntry,
  TokenView,
  ViewEpisode,
} from "../../src/view/api.ts";
import { startViewServer, type ViewServer } from "../../src/view/server/view-server.ts";
import { coinTrainer, newFolder } from "../trainer/coin-run.ts";
import { addEpisodes, newRunFolder } from "./view-run.ts";

const token = "a-token";
const made = newRunFolder();
let server: ViewServer;

const get = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${server.url}${path}`, {
    redirect: "manual",
    ...init,
    headers: { authorization: `Bearer ${token}`, ...init.headers },
  });

async function read<T>(path: string): Promise<T> {
  const response = await get(path);
  expect(response.status, path).toBe(200);
  return (await response.json()) as T;
}

beforeAll(async () => {
  const outputDir = newFolder();
  await coinTrainer({ outputDir, set: { "trainer.total_batches": 2 } }).trainer.train();
  const assets = mkdtempSync(join(tmpdir(), "agent-trainer-assets-"));
  writeFileSync(join(assets, "index.html"), "<!doctype html>the page");
  writeFileSync(join(assets, "app.js"), "1;");
  addEpisodes(made, "000001.jsonl", [
    { id: "1/a/0", reward: 0, responses: ["x", "y"], ids: [1, 2, 3] },
    { id: "1/a/1", rollout: 1, reward: 1, responses: ["x", "y"], ids: [1, 2, 4] },
    { id: "1/a/2", rollout: 2, reward: 0.5, responses: ["x", "y"], ids: [1, 2, 3] },
  ]);
  server = await startViewServer({
    folders: [join(outputDir, "coin"), made],
    host: "127.0.0.1",
    port: 0,
    token,
    assets,
    findDecoder: (model) =>
      Promise.resolve(
        model === "coin" ? (ids) => String.fromCharCode(...Array.from(ids, (id) => id)) : null,
      ),
    pollMs: 20,
  });
  await server.ready;
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

it("lets in who has the token, which becomes a cookie that scripts cannot read", async () => {
  const plain = { headers: { authorization: "" } };
  expect((await get("/", plain)).status).toBe(401);
  expect((await get("/api/runs", plain)).status).toBe(401);
  expect((await get("/?token=wrong", plain)).status).toBe(403);
  const entered = await get(`/?token=${token}`, plain);
  expect(entered.status).toBe(302);
  expect(entered.headers.get("location")).toBe("/");
  const cookie = entered.headers.get("set-cookie") ?? "";
  expect(cookie).toContain("HttpOnly");
  expect(cookie).toContain("SameSite=Strict");
  const page = await get("/", { headers: { authorization: "", cookie: cookie.split(";")[0]! } });
  expect(await page.text()).toBe("<!doctype html>the page");
  const policy = page.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("unsafe");
  expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  expect((await get("/api/runs", { method: "POST" })).status).toBe(405);
});

it("serves no other file, run, episode or call", async () => {
  for (const path of [
    "/assets/..%2f..%2fpackage.json",
    "/assets/index.html",
    "/api/runs/7/facets",
    "/api/runs/0/episodes/9999",
    "/api/runs/0/episodes/1/tokens?call=99",
    "/api/runs/0/episodes/1/other",
  ])
    expect((await get(path)).status, path).toBe(404);
});

it("shows a real run: its episodes, metrics and tokens", async () => {
  const [run] = await read<RunEntry[]>("/api/runs");
  expect(run).toMatchObject({ name: "coin", model: "coin", status: "completed", steps: 2 });
  expect(run!.index).toMatchObject({ episodes: 16, calls: 16, damaged: 0 });
  const { rows } = await read<EpisodePage>("/api/runs/0/episodes?step=1&phase=train");
  expect(rows).toHaveLength(8);
  const table = await read<MetricTable>("/api/runs/0/metrics");
  expect(table.steps).toContain(2);
  const mean = rows.reduce((sum, { reward }) => sum + reward!, 0) / rows.length;
  expect(table.series["reward/mean"]![table.steps.indexOf(1)]).toBeCloseTo(mean, 9);
  const { n, id } = rows[0]!;
  const episode = await read<ViewEpisode>(`/api/runs/0/episodes/${encodeURIComponent(id)}`);
  expect(episode.row.n).toBe(n);
  const [call] = episode.trajectories[0]!.calls;
  expect(call!.newMessages[0]!.text).toMatch(/^Question \d: yes or no\?$/u);
  expect(["yes", "no"]).toContain(call!.response.text);
  const tokens = await read<TokenView>(`/api/runs/0/episodes/${n}/tokens?call=0`);
  expect(tokens.responseTexts!.slice(0, -1).join("")).toBe(call!.response.text);
  expect(tokens.logprobs).toHaveLength(tokens.responseIds.length);
});

it("refuses filters that it does not know", async () => {
  for (const query of ["colour=red", "minReward=much", "step=-1", "only=nothing"]) {
    const response = await get(`/api/runs/0/episodes?${query}`);
    expect(response.status, query).toBe(400);
    expect(await response.text()).toContain(query.split("=")[0] === "colour" ? "colour" : "");
  }
});

it("puts the rollouts of a task side by side, with the first token that differs", async () => {
  const members = await read<GroupMember[]>("/api/runs/1/groups/1");
  expect(members.map(({ advantage }) => advantage)).toEqual([-0.5, 0.5, 0]);
  expect(members.map(({ firstDifference }) => firstDifference)).toEqual([
    null,
    { call: 0, token: 2 },
    null,
  ]);
});

it("reports what is written while it runs", async () => {
  const controller = new AbortController();
  const live = await get("/api/live", { signal: controller.signal });
  const reader = live.body!.pipeThrough(new TextDecoderStream()).getReader();
  addEpisodes(made, "000002.jsonl", [{ id: "2/a/0", responses: ["new"] }]);
  let text = "";
  // Episodes, and bytes of the index: each ends in the number of episodes that are in it.
  while (!/"key":1,"stamp":"0\/0\/4\//u.test(text)) text += (await reader.read()).value ?? "";
  controller.abort();
  const { rows } = await read<EpisodePage>("/api/runs/1/episodes?text=new");
  expect(rows.map(({ id }) => id)).toEqual(["2/a/0"]);
});
