import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { compareEvaluations } from "../../src/runs/evaluations/compare.ts";
import type { EvaluationItem } from "../../src/runs/evaluations/evaluation-item.ts";
import type {
  CallHttp,
  GroupMember,
  RolloutView,
  Sibling,
  TokenView,
  ViewEpisode,
} from "../../src/view/api/conversation.ts";
import type {
  ChangedOption,
  Finding,
  MetricTable,
  RewardParts,
  RunEntry,
} from "../../src/view/api/runs.ts";
import type { EpisodePage } from "../../src/view/api/episodes.ts";
import type { RunChanges, TaskMap } from "../../src/view/api/tasks.ts";
import type { RunsApart, RunsCompared } from "../../src/view/api/comparisons.ts";
import { startViewServer, type ViewServer } from "../../src/view/server/view-server.ts";
import { coinBackend } from "../trainer/coin-backend.ts";
import { coinTrainer, newFolder } from "../trainer/coin-run.ts";
import { addEpisodes, newRunFolder } from "./view-run.ts";

const token = "a-token";
const made = newRunFolder();
const other = newRunFolder();
const xy = { responses: ["x", "y"] };
const format = (value: number) => ({ metrics: { "signal/format": value } });
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
  const backend = coinBackend({ capabilities: { forward: true }, onForward: () => undefined });
  const set = {
    "trainer.total_batches": 2,
    "algorithm.filter_uniform_groups": false,
    "record.token_rows": 4,
    "record.http_body_kb": 8,
  };
  await coinTrainer({ outputDir, backend, set }).trainer.train();
  const assets = mkdtempSync(join(tmpdir(), "agent-trainer-assets-"));
  writeFileSync(join(assets, "index.html"), "<!doctype html>the page");
  writeFileSync(join(assets, "app.js"), "1;");
  addEpisodes(made, "000001.jsonl", [
    { id: "1/a/0", reward: 0, ...xy, ids: [1, 2, 3], extra: format(1) },
    { id: "1/a/1", rollout: 1, reward: 1, ...xy, ids: [1, 2, 4], extra: format(0) },
    { id: "1/a/2", rollout: 2, reward: 0.5, ...xy, ids: [1, 2, 3], extra: format(0.5) },
    { id: "1/b/0", task: "b", reward: 0.5, responses: ["x"], extra: format(0.5) },
  ]);
  addEpisodes(other, "000001.jsonl", [
    { id: "1/a/0", reward: 1, responses: ["z"] },
    { id: "1/b/0", task: "b", reward: 1, responses: ["z"] },
  ]);
  const config = join(other, "config.resolved.yaml");
  writeFileSync(config, `${readFileSync(config, "utf8")}rollout:\n  n: 8\n`);
  const before = join(made, "config.resolved.yaml");
  writeFileSync(before, `${readFileSync(before, "utf8")}rollout:\n  n: 4\n`);
  server = await startViewServer({
    folders: [join(outputDir, "coin"), made, other],
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
    "/assets/__proto__",
    "/assets/constructor",
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

it("names what is wrong with a run in the list of runs, as it is written", async () => {
  const findings = async () => (await read<RunEntry[]>("/api/runs"))[2]!.findings;
  expect(await findings()).toEqual([]);
  const dropped = { "reward/mean": 0, "groups/count": 8, "groups/dropped/uniform_groups": 8 };
  const lines = Array.from({ length: 12 }, (_, i) => ({ step: i + 1, phase: "train", ...dropped }));
  appendFileSync(
    join(other, "metrics.jsonl"),
    lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  );
  expect(await findings()).toEqual([{ name: "no reward variance", severity: "problem" }]);
});

it("shows what was configured, next to what is wrong and as a list", async () => {
  const changed = await read<ChangedOption[]>("/api/runs/0/options");
  expect(changed).toContainEqual({ key: "trainer.total_batches", value: "2", default: "-1" });
  expect(changed.map(({ key }) => key)).not.toContain("trainer.output_dir");
  const [found] = await read<Finding[]>("/api/runs/2/health");
  expect(found).toMatchObject({ disease: "no_reward_variance", options: { "rollout.n": "8" } });
  // Its episodes are of the first step, which is not among the newest ones.
  expect(found!.example).toBeNull();
  const section = await read<{ text: string }>(`/api/docs/${found!.doc.split("#")[1]!}`);
  expect(section.text).toContain("A problem. reward/std is 0, every group is dropped");
  expect((await get("/api/docs/nothing")).status).toBe(404);
  const episode = await read<ViewEpisode>("/api/runs/1/episodes/1");
  expect(JSON.parse(episode.metadata)).toEqual({ answer: "z" });
  expect((await read<ViewEpisode>("/api/runs/0/episodes/1")).metadata).toBe("");
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

it("returns the responses of any rollout, to be compared with another", async () => {
  const one = await read<RolloutView>("/api/runs/1/episodes/1/responses");
  expect(one.row.id).toBe("1/a/0");
  expect(one.calls.map(({ text, ids }) => [text, ids])).toEqual([
    ["x", [1, 2, 3]],
    ["y", [1, 2, 3]],
  ]);
  expect((await get("/api/runs/1/episodes/999/responses")).status).toBe(404);
});

it("has the numbers of training of a call, and says where there are none and why", async () => {
  const { rows } = await read<EpisodePage>("/api/runs/0/episodes?step=1&phase=train");
  const all = await Promise.all(
    rows.map(({ n }) => read<TokenView>(`/api/runs/0/episodes/${n}/tokens?call=0`)),
  );
  const kept = all.filter(({ trained }) => trained !== null);
  expect(kept).toHaveLength(4);
  for (const { trained, responseIds, notRecorded } of kept) {
    expect(trained!.logprobs).toHaveLength(responseIds.length);
    expect(trained).toMatchObject({ step: 1, temperature: 1, reference: null, entropy: null });
    expect(notRecorded.join(" ")).toMatch(/no reference model.*no entropy per token/u);
  }
  expect(all.find(({ trained }) => trained === null)!.notRecorded[0]).toContain("keeps a part");
  const off = await read<TokenView>("/api/runs/1/episodes/1/tokens?call=0");
  expect(off.notRecorded[0]).toContain("set record.token_rows");
});

it("shows the HTTP bodies of a call where the run kept them, and else what was captured", async () => {
  const http = await read<CallHttp>("/api/runs/0/episodes/1/http?call=0");
  expect(JSON.parse(http.bodies!.request.text)).toMatchObject({ model: "coin" });
  const reply = JSON.parse(http.bodies!.reply.text) as { id: string };
  expect(reply.id).toBe(http.captured["responseId"]);
  expect(http.bodies!.path).toBe("/v1/chat/completions");
  const none = await read<CallHttp>("/api/runs/1/episodes/1/http?call=0");
  expect(none.bodies).toBeNull();
  expect(none.note).toContain("set record.http_body_kb");
  expect(none.captured).toMatchObject({ protocol: "openai-chat", messages: 2 });
  expect((await get("/api/runs/1/episodes/1/http?call=9")).status).toBe(404);
});

it("correlates the reward with its parts", async () => {
  const parts = await read<RewardParts>("/api/runs/1/parts");
  expect(parts.names).toEqual(["reward", "format", "response tokens", "calls", "tool calls"]);
  expect(parts.episodes).toBe(4);
  // Rewards 0, 1, 0.5, 0.5 and parts 1, 0, 0.5, 0.5.
  expect(parts.cells[0]![1]!.r).toBeCloseTo(-1, 9);
  expect(await read<RewardParts | null>("/api/runs/1/parts?step=0")).toBeNull();
  expect((await get("/api/runs/1/parts?step=x")).status).toBe(400);
});

it("compares runs as agent-trainer compare does, with an episode of each side", async () => {
  const compared = await read<RunsCompared>("/api/runs/2/against/1");
  expect(compared).toMatchObject({ a: "training in steps 1 to 1", tasks: 2 });
  const item = (id: string, attempt: number, reward: number): EvaluationItem =>
    ({ id, attempt, reward, isCorrect: reward > 0.5, terminationReason: "completed" }) as never;
  const expected = compareEvaluations(
    {
      items: [item("a", 1, 0), item("a", 2, 1), item("a", 3, 0.5), item("b", 1, 0.5)],
      summary: { failureReward: 0 },
    },
    { items: [item("a", 1, 1), item("b", 1, 1)], summary: { failureReward: 0 } },
  );
  expect(compared.reward).toEqual(expected.reward);
  expect(compared.pass).toEqual(expected.pass);
  expect(compared.changed.map(({ task, a, b }) => [task, a, b])).toEqual([
    ["b", 0.5, 1],
    ["a", 0.5, 1],
  ]);
  const [first] = compared.changed;
  const ids = await Promise.all(
    [`/api/runs/1/episodes/${first!.episodeA}`, `/api/runs/2/episodes/${first!.episodeB}`].map(
      async (path) => (await read<ViewEpisode>(path)).row.task,
    ),
  );
  expect(ids).toEqual(["b", "b"]);
  expect(compared.options).toEqual({ "rollout.n": ["4", "8"] });
  expect(await read<RunsCompared>("/api/runs/0/against/1")).toMatchObject({
    tasks: 0,
    reward: null,
  });
  expect((await get("/api/runs/0/against/7")).status).toBe(404);
});

it("maps tasks by steps, and says what sets the runs apart", async () => {
  const map = await read<TaskMap>("/api/runs/1/tasks");
  expect(map).toMatchObject({ phase: "train", phases: ["train"], columns: [1], tasks: 2 });
  expect(map.rows.map(({ task, cells, question }) => [task, question, cells])).toEqual([
    ["a", "Say something.", [{ column: 0, reward: 0.5, rollouts: 3, n: 1 }]],
    ["b", "Say something.", [{ column: 0, reward: 0.5, rollouts: 1, n: 4 }]],
  ]);
  expect((await read<TaskMap>("/api/runs/1/tasks?phase=validation")).tasks).toBe(0);
  expect((await get("/api/runs/1/tasks?phase=constructor")).status).toBe(400);
  const { options, groups } = await read<RunsApart>("/api/apart");
  const n = options.find(({ key }) => key === "rollout.n");
  expect(n?.values.slice(1)).toEqual(["4", "8"]);
  expect(new Set(groups).size).toBe(3);
});

it("shows the same task before and now", async () => {
  expect(await read<RunChanges>("/api/runs/1/changes")).toBeNull();
  const folder = newRunFolder();
  addEpisodes(folder, "val-000000.jsonl", [{ id: "v0/a/0", reward: 0, responses: ["no"] }]);
  addEpisodes(folder, "val-000004.jsonl", [{ id: "v4/a/0", reward: 1, responses: ["yes"] }]);
  await using one = await startViewServer({
    folders: [folder],
    host: "127.0.0.1",
    port: 0,
    token,
    assets: folder,
    findDecoder: () => Promise.resolve(null),
  });
  await one.ready;
  const response = await fetch(`${one.url}/api/runs/0/changes`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(await response.json()).toMatchObject({
    phase: "validation",
    fromStep: 0,
    toStep: 4,
    better: 1,
    tasks: [{ task: "a", before: { n: 1, reward: 0 }, now: { n: 2, reward: 1 } }],
  });
});

it("orders the rollouts of a group by reward, with where they part from one", async () => {
  const found = await read<Sibling[]>("/api/runs/1/siblings/1");
  expect(found.map(({ row, advantage, parting }) => [row.rollout, advantage, parting])).toEqual([
    [1, 0.5, null],
    [2, 0, null],
    [0, -0.5, null],
  ]);
  expect((await get("/api/runs/1/siblings/999")).status).toBe(404);
});

it("finds the expected answer of an episode in its task", async () => {
  const { expected, row } = await read<ViewEpisode>("/api/runs/1/episodes/1");
  expect([expected, row.question]).toEqual(["z", "Say something."]);
});

it("reports what is written while it runs", async () => {
  const controller = new AbortController();
  const live = await get("/api/live", { signal: controller.signal });
  const reader = live.body!.pipeThrough(new TextDecoderStream()).getReader();
  addEpisodes(made, "000002.jsonl", [{ id: "2/a/0", responses: ["new"] }]);
  let text = "";
  // Episodes, and bytes of the index: each ends in the number of episodes that are in it.
  while (!/"key":1,"stamp":"0\/0\/5\//u.test(text)) text += (await reader.read()).value ?? "";
  controller.abort();
  const { rows } = await read<EpisodePage>("/api/runs/1/episodes?text=new");
  expect(rows.map(({ id }) => id)).toEqual(["2/a/0"]);
});
