import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { runCli } from "./program.ts";

/** Runs the command line in this process. */
async function run(...args: string[]) {
  let [out, err] = ["", ""];
  const code = await runCli(args, {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  return { code, out, err };
}

function configFile(text: string, files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "agent-trainer-cli-"));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const file = join(folder, "run.yaml");
  writeFileSync(file, text);
  return file;
}

const parts = {
  "agent.mjs": "export const agent = () => 'x';\nexport const helper = 1;\n",
  "evaluator.mjs": "export default () => true;\n",
  "train.jsonl": '{"question": "a"}\n\n{"question": "b"}\n',
};
const yaml =
  "model: {name: m}\nagent: agent.mjs\nevaluator: evaluator.mjs\ndataset: {train: train.jsonl}\n";

describe("help", () => {
  it.each([
    [["--help"], ["train", "demo", "Examples:"]],
    [
      ["train", "--help"],
      ["--resume", "--dry-run", "Examples:", "training.learning_rate", "train --help all"],
    ],
    [
      ["train", "--help", "all"],
      ["--resume", "algorithm:\n", "rollout.n_val"],
    ],
    [
      ["demo", "--help"],
      ["--steps", "--lr", "Examples:"],
    ],
  ])("%j", async (args, expected) => {
    const { code, out, err } = await run(...args);
    expect(code).toBe(0);
    expect(err).toBe("");
    for (const text of expected) expect(out).toContain(text);
  });
  it.each([
    [],
    ["train"],
    ["train", "all"],
    ["gateway"],
    ["view"],
    ["runs", "show"],
    ["eval"],
    ["serve"],
  ])("%j breaks no word in a terminal of 80 columns", async (...words) => {
    let wide = "";
    let narrow = "";
    const stderr = { write: () => true };
    const show = (columns: number, write: (text: string) => unknown) =>
      runCli([...words, "--help"], { stdout: { write, isTTY: true, columns }, stderr });
    await show(10_000, (text) => (wide += text));
    await show(80, (text) => (narrow += text));
    const tooLong = narrow.split("\n").filter((line) => line.length > 80);
    // Only a word that is longer than a line by itself.
    expect(tooLong.filter((line) => line.trim().replace(/ \\$/u, "").includes(" "))).toEqual([]);
    const plain = (text: string) => text.split(/\s+(?:\\\s+)?/u).join(" ");
    expect(plain(narrow)).toBe(plain(wide));
  });
  it("fits train on a screen or two, and lists every command under a heading", async () => {
    let text = "";
    const stdout = { write: (part: string) => (text += part), isTTY: true, columns: 80 };
    await runCli(["train", "--help"], { stdout, stderr: { write: () => true } });
    expect(text.split("\n").length).toBeLessThan(90);
    const options = text.slice(text.indexOf("Options of CONFIG.yaml"));
    expect(options.match(/^ {2}\S/gmu)).toHaveLength(12);
    const { out } = await run("--help");
    expect(out).not.toContain("\nCommands:");
    expect(out.match(/^ {2}[a-z]+ {2,}\S/gmu)).toHaveLength(28);
    expect(out).not.toMatch(/^ {2}trace\b/mu);
  });
  it("prints the version on stdout", async () => {
    const { code, out } = await run("--version");
    expect([code, /^\d+\.\d+\.\d+\n$/u.test(out)]).toEqual([0, true]);
  });
});

describe("train --explain", () => {
  it("explains an option and lists the backends that support it", async () => {
    const { code, out } = await run("train", "--explain", "algorithm.entropy_coef");
    expect(code).toBe(0);
    expect(out).toContain("algorithm.entropy_coef: Coefficient of the entropy bonus");
    expect(out).toMatch(/default +0\n/u);
    expect(out).toMatch(/local +supported\n/u);
    expect(out).toMatch(/tinker +not supported\n/u);
  });
  it("reports the value in a file and its source", async () => {
    const file = configFile("model: {name: m}\nrllm: {rollout: {n: 4}}\n");
    const { out } = await run("train", file, "--explain", "rollout.n");
    expect(out).toMatch(/now +4 \(file, as rllm\.rollout\.n\)/u);
    const asJson = await run("train", file, "--explain", "rollout.n", "--json");
    expect(JSON.parse(asJson.out)).toMatchObject({ key: "rollout.n", value: 4, default: 8 });
  });
  it("fails for an unknown option, with the nearest one", async () => {
    const { code, err } = await run("train", "--explain", "rollout.m");
    expect(code).toBe(2);
    expect(err).toContain("Did you mean rollout.n?");
  });
  it("--dry-run shows references and keys without an effect", async () => {
    const file = configFile(
      "model: {name: m}\nrollout: {n_val: '${rollout.n}'}\nray_kwargs: {a: 1}\n",
    );
    const { out } = await run("train", file, "--dry-run");
    expect(out).toMatch(/n_val: 8 +# file, from \$\{rollout\.n\}/u);
    expect(out).toContain("# ray_kwargs.a has no effect");
    expect(parse(out)).toMatchObject({ rollout: { n_val: 8 } });
  });
});

describe("usage errors exit with 2", () => {
  it.each([
    [["trian"], "Did you mean train?"],
    [["train", "x.yaml", "--sed", "1"], "Did you mean --seed?"],
    [["train", "x.yaml", "--seed", "-1"], "whole number of at least 0"],
    [["demo", "--steps", "0"], "whole number of at least 1"],
    [["demo", "--lr", "2"], "a number from 0 to 1"],
    [["train"], "train needs a configuration file"],
    [["train", "/nowhere.yaml"], "/nowhere.yaml cannot be read"],
  ])("%j", async (args, message) => {
    const { code, out, err } = await run(...args);
    expect(err).toContain(message);
    expect([code, out]).toEqual([2, ""]);
    expect(err).not.toContain("    at ");
  });

  it.each([
    ["an unknown option", ["data.train_batch_sise=3"], "Did you mean data.train_batch_size?"],
    ["an override without =", ["rollout.n"], "not of the form key=value"],
    ["an unknown backend", ["backend=locl"], "Did you mean backend=local?"],
    ["a missing agent file", ["agent=gone.mjs"], "gone.mjs, which does not exist"],
    ["a missing export", ["agent=agent.mjs#agnt"], "it exports agent, helper"],
    ["its nearest name", ["agent=agent.mjs#agnt"], "Did you mean agent: agent.mjs#agent?"],
    ["no agent", ["agent=null"], "agent is not set"],
    ["a missing dataset", ["dataset.train=gone.jsonl"], "gone.jsonl, which does not exist"],
    ["a broken line", ["dataset.train=broken.jsonl"], "broken.jsonl:3: not valid JSON"],
    ["a row without text", ["dataset.train=poor.jsonl"], "poor.jsonl:2: there is neither"],
    ["a dataset that is not a list", ["dataset.train=map.json"], "must contain a list of tasks"],
    ["a module that throws", ["agent=throws.mjs"], "RangeError: at import"],
    ["a backend that is not a function", ["backend=agent.mjs#helper"], "must name a function"],
  ])("%s", async (_, overrides, message) => {
    const file = configFile(yaml, {
      ...parts,
      "broken.jsonl": '{"question": "a"}\n\n{"question":\n',
      "poor.jsonl": '{"question": "a"}\n{"answer": "b"}\n',
      "map.json": '{"a": 1}',
      "throws.mjs": 'throw new RangeError("at import");',
    });
    const { code, err } = await run("train", file, ...overrides);
    expect(err).toContain(message);
    expect(code).toBe(2);
  });
});

describe("a missing package", () => {
  it("is named with the command that installs it", async () => {
    const file = configFile(yaml, {
      ...parts,
      "agent.mjs": 'import "@scope/not-installed/part";\nexport const agent = () => {};\n',
    });
    const { code, err } = await run("train", file);
    expect(err).toBe(
      "error: The package @scope/not-installed is not installed.\nRun: npm install @scope/not-installed\n",
    );
    expect(code).toBe(1);
  });
});

describe("--verbose", () => {
  it("shows the stack", async () => {
    const { err } = await run("train", "/nowhere.yaml", "--verbose");
    expect(err).toContain("    at ");
    expect(err).toContain("caused by: ");
  });
});

describe("--dry-run", () => {
  it("prints the resolved tree with where each value came from, and starts nothing", async () => {
    const file = configFile("model: {name: m}\nrollout: {n: 4}\nagent: agent.mjs\n", {
      "agent.mjs": "throw new Error('It was started.');",
    });
    const { code, out, err } = await run(
      "train",
      file,
      "rollout.n_val=2",
      "--seed",
      "7",
      "--dry-run",
    );
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^ {2}n: 4 +# file$/mu);
    expect(out).toMatch(/^ {2}n_val: 2 +# override$/mu);
    expect(out).toMatch(/^ {2}seed: 7 +# override$/mu);
    expect(out).toMatch(/^ {4}top_p: 1 +# default$/mu);
    expect(parse(out)).toMatchObject({
      rollout: { n: 4, n_val: 2, train: { top_p: 1 }, val: { top_p: 1 } },
      dataset: { train: null },
    });
  });
  it("prints JSON with --json", async () => {
    const file = configFile("model: {name: m}\n");
    const { out } = await run("train", file, "--dry-run", "--json");
    expect(JSON.parse(out)).toMatchObject({
      config: { model: { name: "m" } },
      sources: { "model.name": "file", "rollout.n": "default" },
    });
  });
});
