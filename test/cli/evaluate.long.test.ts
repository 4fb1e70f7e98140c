import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createUpstream } from "../../src/testing/index.ts";
import { coinProject, start } from "./coin-project.ts";

const upstream = await createUpstream({
  kind: "openai",
  script: ({ text }) => (text.includes("say yes") ? "yes" : "no"),
});
afterAll(() => upstream[Symbol.asyncDispose]());

const rows = ["a", "b", "x", "y"].map((question) =>
  JSON.stringify({ id: question, question: /[ab]/u.test(question) ? "say yes" : "say no" }),
);
const folder = coinProject({
  "val.jsonl": `${rows.join("\n")}\n`,
  "stricter.mjs":
    "export const score = (task, episode) => task.id === 'a' && episode.output === 'yes';\n",
});
const config = join(folder, "run.yaml");
const val = ["--dataset", join(folder, "val.jsonl")];
const endpoint = ["--model", `${upstream.url}/v1`];
const first = join(folder, "evals", "first");

describe("eval, compare and rescore", () => {
  it("evaluates an endpoint: a table on stdout, progress on stderr, files in the folder", async () => {
    const { code, out, err } = await start([
      "eval",
      config,
      ...val,
      ...endpoint,
      "--n",
      "2",
      "--output",
      first,
    ]);
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining("eval 8/8") });
    expect(out).toContain(`scripted at ${upstream.url}/v1: 4 tasks, 2 attempts each, 0 failed`);
    expect(out).toMatch(/all +pass@1 +0\.500 +0\.000 to 1\.000/u);
    expect(out).toContain(`results: ${first}`);
    expect(readdirSync(first).sort()).toEqual([
      "episodes.jsonl",
      "evaluation.json",
      "results.jsonl",
      "summary.json",
    ]);
  });

  it("--json prints the summary; the model of the file is the default", async () => {
    const output = join(folder, "evals", "own");
    const args = ["eval", config, "trainer.seed=3", ...val, "--json", "--quiet", "--limit", "3"];
    const { code, out, err } = await start([...args, "--output", output]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const summary = JSON.parse(out) as Record<string, unknown>;
    expect(summary).toMatchObject({
      status: "completed",
      model: "coin",
      tasks: 3,
      seed: 3,
      folder: output,
    });
    const { folder: _folder, ...rest } = summary;
    expect(rest).toEqual(JSON.parse(readFileSync(join(output, "summary.json"), "utf8")));
  });

  it("rescores and compares: exit code 1 only with --fail-if-worse and a clear difference", async () => {
    const stricter = join(folder, "evals", "stricter");
    const evaluator = `${join(folder, "stricter.mjs")}#score`;
    const rescored = await start([
      "rescore",
      first,
      "--evaluator",
      evaluator,
      "--output",
      stricter,
    ]);
    expect(rescored.code, rescored.err).toBe(0);
    expect(rescored.out).toContain("2 of 8 verdicts changed");
    const compared = await start(["compare", first, stricter, "--json"]);
    expect(compared.code, compared.err).toBe(0);
    const { isWorse, tasks } = JSON.parse(compared.out) as { isWorse: boolean; tasks: number };
    expect(tasks).toBe(4);
    const strict = await start(["compare", first, stricter, "--fail-if-worse"]);
    expect(strict.code).toBe(isWorse ? 1 : 0);
    expect(strict.out).toMatch(/pass@1 .* B - A|A +B +B - A/u);
    const same = await start(["compare", first, first, "--fail-if-worse"]);
    expect({ code: same.code, out: same.out }).toEqual({
      code: 0,
      out: expect.stringContaining("no clear difference; 4 tasks in both, 0 changed"),
    });
  });

  it("gates a candidate: exit code 1 with what it missed, 0 where it is better", async () => {
    const tasks = Array.from({ length: 8 }, (_, i) =>
      JSON.stringify({ id: `t${i}`, question: i < 6 ? "say yes" : "say no" }),
    );
    const gated = coinProject({ "val.jsonl": `${tasks.join("\n")}\n` });
    const at = (name: string): string => join(gated, name);
    const common = ["--config", at("run.yaml"), "--dataset", at("val.jsonl"), "--json", "--quiet"];
    // The coin that the file names says yes and no, the endpoint what it is asked for.
    const model = `${upstream.url}/v1`;
    const same = await start(["gate", model, model, ...common, "--output", at("same")]);
    expect(same.code, same.err).toBe(1);
    expect(JSON.parse(same.out)).toMatchObject({
      verdict: "not better",
      misses: [{ rule: "gain", missedBy: 0 }],
      folder: at("same"),
    });
    const sides = ["current", "candidate"].map((side) => join(at("same"), side));
    const allowed = await start(["gate", ...sides, "--min-gain", "-0.1", "--slice", "question"]);
    expect({ code: allowed.code, err: allowed.err }).toEqual({ code: 0, err: "" });
    expect(allowed.out).toMatch(/question=say yes +6 +1\.000 +1\.000 +\+0\.000/u);
    expect(allowed.out).toMatch(/\nbetter\n$/u);
    const missing = await start(["gate", sides[0]!, "builtin:shop-tiny"]);
    expect({ code: missing.code, err: missing.err }).toEqual({
      code: 2,
      err: expect.stringContaining("--config FILE"),
    });
    const idle = await start(["gate", ...sides, "--n", "2"]);
    expect({ code: idle.code, err: idle.err }).toEqual({
      code: 2,
      err: expect.stringContaining("--n has no effect"),
    });
  });

  it("shows recorded rollouts: a list, those that failed, and one as a transcript", async () => {
    const all = await start(["show", first]);
    expect(all.code, all.err).toBe(0);
    expect(all.out.trim().split("\n")).toHaveLength(1 + 8);
    const failed = await start(["show", first, "--failed", "--json"]);
    const { episodes } = JSON.parse(failed.out) as { episodes: { id: string; number: number }[] };
    expect(episodes.map(({ id }) => id).sort()).toEqual(
      ["x", "y"].flatMap((id) => [`eval/${id}/0`, `eval/${id}/1`]),
    );
    const one = await start(["show", first, "eval/x/1"]);
    expect(one.code, one.err).toBe(0);
    expect(one.out).toMatch(/task x {3}reward 0\n {2}user +say no\n {2}assistant no\n/u);
    expect(one.out).toMatch(/calls +call 1: \d+ prompt tokens, 3 response tokens, /u);
    expect(one.out).toMatch(/score +reward 0, incorrect\n {2}ended +completed\n$/u);
    const byNumber = await start(["show", first, String(episodes[0]!.number), "--json"]);
    expect(JSON.parse(byNumber.out)).toMatchObject({ id: episodes[0]!.id });
  });

  it("tries one task: the conversation and the score, or the error of the agent", async () => {
    const tried = await start(["try", config, "--task", "2", ...endpoint]);
    expect({ code: tried.code, err: tried.err }).toEqual({ code: 0, err: "" });
    expect(tried.out).toMatch(/user +b\n {2}assistant no\n/u);
    expect(tried.out).toMatch(/score +reward 0, incorrect/u);
    const broken = await start(["try", config, "agent=parts.mjs#broken", ...endpoint]);
    expect({ code: broken.code, out: broken.out }).toEqual({
      code: 1,
      out: expect.stringMatching(/the tool is down[^]*ended +error/u),
    });
  });

  it("is interrupted with 130 and the command that resumes it", async () => {
    const lines = Array.from({ length: 40 }, (_, i) => JSON.stringify({ question: `q${i}` }));
    const slow = coinProject({
      "val.jsonl": `${lines.join("\n")}\n`,
      "parts.mjs": `export async function agent() {
  await new Promise((done) => setTimeout(done, 60));
  return "yes";
}
export const evaluator = (task, episode) => episode.output === "yes";
`,
    });
    const output = join(slow, "eval");
    const args = ["eval", join(slow, "run.yaml"), "--dataset", join(slow, "val.jsonl")];
    const more = ["--concurrency", "2", "--limit", "40"];
    const stopped = await start([...args, ...more, "--output", output], (text) =>
      text.includes("eval 4/40"),
    );
    expect(stopped.code, stopped.err).toBe(130);
    expect(stopped.err).toMatch(/To resume: .*eval .*--limit 40 .*--resume /u);
    expect(stopped.out).toMatch(/\d+ of 40 attempts done/u);
    const resumed = await start([...args, ...more, "--resume", output, "--json"]);
    expect(resumed.code, resumed.err).toBe(0);
    expect(JSON.parse(resumed.out)).toMatchObject({ status: "completed", rollouts: 40 });
  });

  it.each([
    [["eval", config], 2, /dataset\.val is not set/u],
    [["eval", config, ...val, "--model-name", "m"], 2, /--model-name has no effect/u],
    [
      ["eval", config, ...val, ...endpoint, "--key-env", "NOT_SET_HERE"],
      2,
      /NOT_SET_HERE, which is not set/u,
    ],
    [["eval", config, ...val, "--model", "http://127.0.0.1:1/v1"], 1, /127\.0\.0\.1:1/u],
    [
      ["eval", config, "--dataset", join(folder, "none.jsonl")],
      2,
      /none\.jsonl, which does not exist/u,
    ],
    [["compare", folder, folder], 2, /evaluation\.json cannot be used/u],
    [["try", config, "--task", "9"], 2, /no task "9": it has 2 tasks/u],
    [["show", first, "eval/x/9"], 2, /Did you mean eval\/x\/\d/u],
    [["rescore", folder, "--evaluator", join(folder, "parts.mjs")], 2, /no recorded episodes/u],
  ])("%j exits with %i", async (args, expected, message) => {
    const { code, out, err } = await start(args);
    expect({ code, out }).toEqual({ code: expected, out: "" });
    expect(err).toMatch(message);
  });
});
