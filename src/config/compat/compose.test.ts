import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../load.ts";
import type { TrainConfig } from "../train-config.ts";

/** Writes these files into a new folder; the first one is what is loaded. */
function files(contents: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "agent-trainer-compose-"));
  for (const [name, text] of Object.entries(contents)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return join(folder, Object.keys(contents)[0] as string);
}

const load = (contents: Record<string, string>, ...overrides: string[]): TrainConfig =>
  loadConfig({ file: files(contents), overrides }).config;

const small = "n: 2\ntrain: {max_tokens: 16}\n";
const large = "n: 32\n";

describe("defaults", () => {
  it("lay files below the one that names them", () => {
    const { rollout, model } = load({
      "run.yaml": "defaults: [base]\nrollout: {n: 3}\n",
      "base.yaml": "model: {name: m}\nrollout: {n: 2, n_val: 5}\n",
    });
    expect([model.name, rollout.n, rollout.nVal]).toEqual(["m", 3, 5]);
  });
  it("lie on top of it where _self_ comes before them", () => {
    const { rollout } = load({
      "run.yaml": "defaults: [_self_, base]\nmodel: {name: m}\nrollout: {n: 3}\n",
      "base.yaml": "rollout: {n: 2}\n",
    });
    expect(rollout.n).toBe(2);
  });
  it("choose a file of a group, whose options are the group's", () => {
    const { rollout } = load({
      "run.yaml": "defaults:\n  - rollout: small\nmodel: {name: m}\n",
      "rollout/small.yaml": small,
    });
    expect([rollout.n, rollout.train.maxTokens]).toEqual([2, 16]);
  });
  it("let an override choose another one of the group, or none", () => {
    const contents = {
      "run.yaml": "defaults:\n  - rollout: small\nmodel: {name: m}\n",
      "rollout/small.yaml": small,
      "rollout/large.yaml": large,
    };
    expect(load(contents, "rollout=large").rollout.n).toBe(32);
    expect(load(contents, "rollout=large", "rollout.n=7").rollout.n).toBe(7);
    expect(load(contents, "~rollout").rollout.n).toBe(8);
  });
  it("let an override choose where the usual file is missing, or is named from the first folder", () => {
    const largeOnly = { "rollout/large.yaml": large };
    for (const group of ["rollout", "/rollout"]) {
      const contents = {
        "run.yaml": `defaults: [{${group}: small}]\nmodel: {name: m}\n`,
        ...largeOnly,
      };
      expect(load(contents, "rollout=large").rollout.n).toBe(32);
    }
  });
  it("put a file where its header or the entry says", () => {
    const { rollout } = load({
      "run.yaml":
        "defaults:\n  - rllm/backend: tinker\n  - sampling@rollout.val: greedy\nmodel: {name: m}\n",
      "rllm/backend/tinker.yaml": "# @package _global_\nrollout: {n: 4}\nbackend: tinker\n",
      "sampling/greedy.yaml": "temperature: 0\n",
    });
    expect([rollout.n, rollout.val.temperature, rollout.train.temperature]).toEqual([4, 0, 1]);
  });
  it("nest", () => {
    const { rollout, backend } = load(
      {
        "run.yaml": "defaults: [base]\nmodel: {name: m}\n",
        "base.yaml": "defaults:\n  - rollout: small\nbackend: verl\n",
        "rollout/small.yaml": small,
        "rollout/large.yaml": large,
      },
      "rollout=large",
      "rllm/backend=tinker",
    );
    expect([rollout.n, backend]).toEqual([32, "tinker"]);
  });
  it("are told apart by the origins of values", () => {
    const { origins } = loadConfig({
      file: files({
        "run.yaml": "defaults: [base]\nmodel: {name: m}\nrollout: {n_val: '${rollout.n}'}\n",
        "base.yaml": "rllm: {rollout: {n: 2}}\n",
      }),
      overrides: ["training.learning_rate=1e-3"],
    });
    expect(origins.get("rollout.n")).toBe("file base.yaml, as rllm.rollout.n");
    expect(origins.get("rollout.n_val")).toBe("file run.yaml, from ${rollout.n}");
    expect(origins.get("training.learning_rate")).toBe("override");
    expect(origins.get("training.beta1")).toBe("default");
  });
  it.each([
    [{ "run.yaml": "defaults: [base]\n" }, /base\.yaml cannot be read/u],
    [{ "run.yaml": "defaults: [base]\n", "base.yaml": "defaults: [run]\n" }, /form a cycle/u],
    [{ "run.yaml": "defaults: base\n" }, /is not valid: "base"/u],
    [{ "run.yaml": "defaults: [{a: b, c: d}]\n" }, /defaults that is not valid/u],
    [{ "run.yaml": "defaults: [{optional a: b}]\n" }, /is not valid: \{"optional a":"b"\}/u],
    [{ "run.yaml": "defaults: [{override a: b}]\n" }, /is not valid: \{"override a":"b"\}/u],
    [{ "run.yaml": "defaults: [base]\n", "base.yaml": "- 1\n" }, /must hold a map/u],
  ])("refuses %j", (contents, message) => {
    expect(() => loadConfig({ file: files(contents as Record<string, string>) })).toThrow(message);
  });
});
