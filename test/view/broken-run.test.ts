/** Runs that failed, and run folders that somebody else may have written: each is shown as what it is. */
import { appendFileSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../src/cli/program.ts";
import { listRuns } from "../../src/runs/run-summary.ts";
import type { MetricTable, RunEntry } from "../../src/view/api/runs.ts";
import { exportHtml } from "../../src/view/html/export-html.ts";
import { RunIndex } from "../../src/view/index/run-index.ts";
import { startViewServer } from "../../src/view/server/view-server.ts";
import { coinTrainer, newFolder } from "../trainer/coin-run.ts";
import { addEpisodes, episodeLine, madeEpisode, newRunFolder } from "./view-run.ts";

async function cli(...args: string[]) {
  let [out, err] = ["", ""];
  const code = await runCli(args, {
    stdout: { write: (text: string) => (out += text), columns: 80 },
    stderr: { write: (text: string) => (err += text) },
  });
  return { code, out, err };
}

async function html(folder: string): Promise<string> {
  using index = new RunIndex(folder);
  await index.extend();
  return (await exportHtml(folder, index)).text;
}

/** What the viewer of these folders answers to a path. */
async function viewed<T>(folders: readonly string[], path: string): Promise<T> {
  const assets = mkdtempSync(join(tmpdir(), "agent-trainer-assets-"));
  writeFileSync(join(assets, "index.html"), "");
  await using server = await startViewServer({
    ...{ folders, assets, host: "127.0.0.1", port: 0, token: "t" },
    findDecoder: () => Promise.resolve(null),
  });
  await server.ready;
  const response = await fetch(`${server.url}${path}`, { headers: { authorization: "Bearer t" } });
  expect(response.status).toBe(200);
  return (await response.json()) as T;
}

describe("a run that failed", () => {
  const reason = "The database of prices \u001B[31mis not there.";
  let folder = "";
  beforeAll(async () => {
    const outputDir = newFolder();
    const { trainer } = coinTrainer({
      outputDir,
      evaluator: () => {
        throw new Error(reason);
      },
      set: { "trainer.total_batches": 2 },
    });
    await trainer.train().catch(() => undefined);
    folder = join(outputDir, "coin");
  });

  it("begins with its reason in the list, in show, in the page and in the file", async () => {
    const [run] = await listRuns(join(folder, ".."));
    expect(run).toMatchObject({ status: "failed", steps: 0 });
    expect(run!.reason).toContain("The database of prices");
    const shown = await cli("runs", "show", folder);
    expect(shown.out.split("\n")[0]).toMatch(/^failed: /u);
    expect(shown.out.replaceAll(/\s+/gu, " ")).toContain("The database of prices is not there.");
    expect(shown.out).not.toContain("no problem found");
    const listed = (await cli("runs", "list", join(folder, ".."))).out.split("\n");
    expect(listed[1]).toMatch(/^coin +coin +failed /u);
    expect(listed.slice(2).join(" ").replaceAll(/\s+/gu, " ")).toContain("The database of prices");
    const [entry] = await viewed<RunEntry[]>([folder], "/api/runs");
    expect(entry).toMatchObject({ status: "failed", reason: run!.reason });
    const file = await html(folder);
    const at = file.indexOf("The database of prices ␛[31mis not there.");
    expect(at).toBeGreaterThan(0);
    expect(at).toBeLessThan(file.indexOf("<h2>"));
  });
});

it("says of a run that was killed that it has no result, and forgets the end before a resume", async () => {
  const folder = newRunFolder();
  const events = join(folder, "events.jsonl");
  appendFileSync(events, '{"type":"run-start","totalSteps":4}\n');
  appendFileSync(events, '{"type":"run-end","status":"failed","message":"disk full"}\n');
  expect((await cli("runs", "show", folder)).out).toMatch(/^failed: disk full\n/u);
  appendFileSync(events, '{"type":"run-start","totalSteps":4}\n');
  expect((await cli("runs", "show", folder)).out).toMatch(/^stopped: It ended without a result/u);
});

it("wraps a finding of health at the terminal's width, what it is and how bad first", async () => {
  const folder = newRunFolder();
  const dropped = { "reward/mean": 0, "groups/count": 8, "groups/dropped/uniform_groups": 8 };
  for (let step = 1; step <= 12; step++)
    appendFileSync(
      join(folder, "metrics.jsonl"),
      `${JSON.stringify({ step, phase: "train", ...dropped })}\n`,
    );
  const lines = (await cli("runs", "show", folder)).out.split("\n");
  expect(lines).toContain("health           problem: no reward variance");
  expect(lines.filter((line) => line.length > 80 && !line.includes(folder))).toEqual([]);
});

describe("a folder that somebody else wrote", () => {
  const good = { id: "1/a/0", responses: ["fine"] };
  const step = madeEpisode(good).trajectories[0]!.steps[0]!;
  const noIds = { promptIds: [], responseIds: [], logprobs: [] };
  const withTrace = (changes: object) => ({
    ...madeEpisode(good),
    trajectories: [
      {
        ...madeEpisode(good).trajectories[0],
        steps: [{ ...step, trace: { ...step.trace, ...noIds, ...changes } }],
      },
    ],
  });
  const malformed: readonly (readonly [string, unknown])[] = [
    ["no response", withTrace({ response: null })],
    ["a message that is null", withTrace({ messages: [null] })],
    [
      "a message with a number as its text",
      withTrace({ messages: [{ role: "user", content: 7 }] }),
    ],
    ["an unknown role", withTrace({ messages: [{ role: "owner", content: "x" }] })],
    [
      "tool calls that are not a list",
      withTrace({ response: { role: "assistant", content: "", toolCalls: {} } }),
    ],
    ["tools without names", withTrace({ tools: [{}] })],
    ["notes that are objects", withTrace({ malformed: {}, sideCall: [] })],
    ["an error that is null", { ...madeEpisode(good), error: null }],
    ["an error without a name", { ...madeEpisode(good), error: { message: "x" } }],
    ["metrics that are a list", { ...madeEpisode(good), metrics: [1] }],
    ["steps of nothing", { ...madeEpisode(good), trajectories: [{ steps: [null] }] }],
    ["a task that is null", { ...madeEpisode(good), task: null }],
    ["a list", [1, 2]],
    ["null", null],
  ];

  it.each(malformed)("loses only the line with %s", async (_name, value) => {
    const folder = newRunFolder();
    const file = join(folder, "episodes", "000001.jsonl");
    const others = ["1/b/0", "1/c/0"].map((id) => episodeLine({ id, responses: ["fine"] }));
    writeFileSync(file, `${others[0]}${JSON.stringify(value)}\n${others[1]}`);
    using index = new RunIndex(folder);
    await index.extend();
    expect(index.state()).toMatchObject({ episodes: 2, damaged: 1, isBuilding: false });
    expect(await exportHtml(folder, index)).toMatchObject({ episodes: 2 });
  });

  it("keeps numbers of the wrong type out of the index, and the episode in it", async () => {
    const folder = newRunFolder();
    const odd = { usage: { promptTokens: "many", completionTokens: {} }, weightVersion: [3] };
    const line = { ...withTrace({ ...odd, startedAt: "then" }), rolloutIndex: {}, reward: "1" };
    writeFileSync(join(folder, "episodes", "000001.jsonl"), `${JSON.stringify(line)}\n`);
    using index = new RunIndex(folder);
    await index.extend();
    expect(index.state()).toMatchObject({ episodes: 1, damaged: 0 });
    expect(await exportHtml(folder, index)).toMatchObject({ episodes: 1 });
  });

  it("unpacks no more than a hundred times its size, or 64 MiB", async () => {
    const folder = newRunFolder();
    addEpisodes(folder, "000001.jsonl", [good]);
    const zeros = gzipSync(Buffer.alloc(2 ** 26 + 1, " "));
    expect(zeros.length).toBeLessThan(100_000);
    writeFileSync(join(folder, "episodes", "000002.jsonl.gz"), zeros);
    using index = new RunIndex(folder);
    await index.extend();
    expect(index.state()).toMatchObject({ episodes: 1, damaged: 1 });
  });

  const bomb = `${"abcdefg"
    .split("")
    .map((name, i, all) => {
      const inner = i === 0 ? "x" : `*${all[i - 1]!}`;
      return `${name}: &${name} [${Array.from({ length: 9 }, () => inner).join()}]`;
    })
    .join("\n")}\n`;
  it.each([
    ["an alias bomb", bomb],
    ["an alias within its anchor", "model: &m {name: m, more: *m}\n"],
    ["text that is not YAML", "model: {name: [\n"],
  ])("with %s as its options hides no other run", async (_name, text) => {
    const folder = mkdtempSync(join(tmpdir(), "agent-trainer-runs-"));
    const [bad, fine] = ["bad", "fine"].map((name) => join(folder, name)) as [string, string];
    for (const run of [bad, fine]) mkdirSync(run);
    writeFileSync(join(bad, "config.resolved.yaml"), text);
    writeFileSync(join(fine, "config.resolved.yaml"), "model: {name: coin}\n");
    const entries = await viewed<RunEntry[]>([bad, fine], "/api/runs");
    expect(entries.map(({ status }) => status)).toEqual(["unreadable", "stopped"]);
    expect(entries[0]!.reason).toContain("config.resolved.yaml");
    const { code, out } = await cli("runs", "list", folder);
    expect(code).toBe(0);
    expect(out).toMatch(/^fine +coin +stopped/mu);
    expect(out).toMatch(/^bad +unreadable/mu);
  });

  it("may name a metric as a prototype, which stays as it is", async () => {
    const folder = newRunFolder();
    const lines = ['{"step":1,"phase":"train","__proto__":7}', '{"step":2,"constructor":8}'];
    writeFileSync(join(folder, "metrics.jsonl"), `${lines.join("\n")}\n`);
    const { series } = await viewed<MetricTable>([folder], "/api/runs/0/metrics");
    expect(Object.entries(series)).toEqual([
      ["__proto__", [7, null]],
      ["constructor", [null, 8]],
    ]);
    expect(({} as Record<string, unknown>)["0"]).toBeUndefined();
    expect(await html(folder)).toContain("<!doctype html>");
  });

  it("reaches neither a page nor a terminal with what controls them, in any field", async () => {
    const folder = newRunFolder();
    const evil = "seen \u001B]0;owned\u0007\u001B[2J\u009B31m\u202E\r";
    const text = { role: "assistant", content: evil, reasoning: evil, name: evil } as const;
    const call = { id: "1", name: evil, arguments: evil };
    writeFileSync(
      join(folder, "episodes", "000001.jsonl"),
      `${JSON.stringify({
        ...withTrace({
          ...{ stopReason: evil, malformed: evil, unmet: evil, unenforced: [evil], sideCall: evil },
          ...{ untrainable: evil, tools: [{ name: evil }], protocol: evil, model: evil },
          response: { ...text, toolCalls: [call] },
        }),
        ...{ id: `1/${evil}/0`, terminationReason: `odd ${evil}`, output: evil },
        task: { id: evil, instruction: evil, metadata: { [evil]: evil } },
        error: { name: evil, message: evil, stack: evil },
        metrics: { [`signal/${evil}`]: 1 },
      })}\n`,
    );
    const config = join(folder, "config.resolved.yaml");
    writeFileSync(config, `model: {name: ${JSON.stringify(evil)}}\nbackend: "\\e[2J"\n`);
    const end = { type: "run-end", status: "failed", message: evil };
    writeFileSync(join(folder, "events.jsonl"), `${JSON.stringify(end)}\n`);
    const shown = await Promise.all([
      html(folder),
      ...[
        ["show", folder],
        ["show", folder, "1", "--tokens"],
        ["show", folder, "1", "--markdown"],
        ["show", folder, "1", "--verbose"],
        ["runs", "show", folder],
        ["runs", "list", join(folder, "..")],
      ].map(async (args) => (await cli(...args)).out),
    ]);
    for (const one of shown) {
      expect(one).toContain("seen");
      // oxlint-disable-next-line no-control-regex
      expect(one).not.toMatch(/(?![\n\t])[\u0000-\u001F\u007F-\u009F]/u);
    }
    expect(shown[0]).not.toMatch(/[\u202A-\u202E]/u);
  });
});

it("lists the runs of a folder that it is given, and says so where one is needed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "agent-trainer-runs-"));
  for (const name of ["a", "b"]) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "config.resolved.yaml"), "model: {name: coin}\n");
  }
  const { err } = await cli("view", folder, "--html", join(folder, "out.html"));
  expect(err).toContain("--html writes one run, but there are 2.");
  for (const name of ["a", "b"]) mkdirSync(join(folder, name, "episodes"));
  const shown = await cli("show", folder);
  expect(shown.err).toContain(`It is a folder of runs: name one of them, as ${join(folder, "a")}`);
});
