/** Recorded episodes in the terminal, without an engine. */
import { appendFileSync, mkdirSync, mkdtempSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { runCli } from "../../src/cli/program.ts";
import { addEpisodes, newRunFolder } from "../view/view-run.ts";

async function show(...args: string[]) {
  let [out, err] = ["", ""];
  const code = await runCli(["show", ...args], {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  return { code, out, err };
}

const folder = newRunFolder();
addEpisodes(folder, "000001.jsonl", [
  { id: "1/a/0", responses: ["one", "two"], reward: 1 },
  { id: "1/a/1", rollout: 1, responses: ["three"], reward: 0 },
]);
addEpisodes(folder, "val-000001.jsonl", [{ id: "1/b/0", task: "b", responses: ["four"] }]);

const before = process.cwd();
afterEach(() => process.chdir(before));

it("lists episodes with their ends, calls and last responses", async () => {
  const { code, out } = await show(folder);
  expect(code).toBe(0);
  const rows = out.trim().split("\n");
  expect(rows).toHaveLength(1 + 3);
  expect(rows[1]!.split(/ {2,}/u)).toEqual([
    ...["1", "1/a/0", "1", "correct", "completed", "2", "two"],
  ]);
});

it("shows one by id or number, its tokens on demand", async () => {
  const one = await show(folder, "1/a/1");
  expect(one.out).toContain("  assistant three\n");
  expect((await show(folder, "2")).out).toBe(one.out);
  const { out } = await show(folder, "2", "--tokens");
  expect(out).toContain(one.out);
  expect(out).toMatch(/\ncall 1\n.*record\.token_rows\.\n.*\n0 +1 +-0\.5000/u);
  const tokens = JSON.parse((await show(folder, "3", "--tokens", "--json")).out) as {
    id: string;
    tokens: { responseIds: number[]; untrained: string[] }[];
  };
  expect(tokens.id).toBe("1/b/0");
  expect(tokens.tokens[0]!.responseIds).toEqual([1, 2]);
  expect(tokens.tokens[0]!.untrained[0]).toContain("from a validation");
});

it("says where a group's rewards are all equal, which another step's cannot change", async () => {
  const equal = newRunFolder();
  const same = (step: number, reward: number) =>
    [0, 1].map((rollout) => ({ id: `${step}/a/${rollout}`, rollout, reward, responses: ["x"] }));
  addEpisodes(equal, "000001.jsonl", same(1, 1));
  addEpisodes(equal, "000002.jsonl", same(2, 0));
  const { out } = await show(equal, "1/a/1", "--tokens");
  expect(out).toContain("All 2 rollouts of the task have the reward 1");
});

it("prints Markdown with the step and the phase", async () => {
  const { out } = await show(folder, "1/b/0", "--markdown");
  expect(out).toContain("# Episode 1/b/0\n\nTask b, step 1, validation. The agent returned.");
  expect(out).toContain("```\nfour\n```");
});

it("takes the latest run where no folder is named", async () => {
  const parent = mkdtempSync(join(tmpdir(), "agent-trainer-show-"));
  mkdirSync(join(parent, "runs"));
  const run = newRunFolder();
  addEpisodes(run, "000007.jsonl", [{ id: "7/tea/0", responses: ["latest"] }]);
  renameSync(run, join(parent, "runs", "shop"));
  process.chdir(parent);
  expect((await show()).out).toContain("7/tea/0");
  expect((await show("7/tea/0")).out).toContain("assistant latest");
  expect((await show("1")).out).toContain("assistant latest");
});

it("leaves damaged lines out, and names them", async () => {
  const damaged = newRunFolder();
  addEpisodes(damaged, "000001.jsonl", [{ id: "1/a/0", responses: ["one"] }]);
  appendFileSync(join(damaged, "episodes", "000001.jsonl"), "{}\n");
  const { code, out, err } = await show(damaged);
  expect([code, out.trim().split("\n").length]).toEqual([0, 2]);
  expect(err).toContain("000001.jsonl:2 is not a recorded episode");
});

it("says where nothing is found", async () => {
  const gone = await show(folder, "1/a/7");
  expect([gone.code, gone.err]).toEqual([2, expect.stringContaining("Did you mean 1/a/0?")]);
  expect((await show(join(folder, "gone"))).err).toContain("holds no recorded episodes");
});
