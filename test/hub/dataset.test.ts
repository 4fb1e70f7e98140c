/** Datasets of a hub, loaded by name from a stand-in server. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  loadDataset,
  type DatasetSource,
  type LoadDatasetOptions,
} from "../../src/launch/load-dataset.ts";
import type { TaskRow } from "../../src/core/task.ts";
import { StandInHub } from "./stand-in-hub.ts";

const converted = "1".repeat(40);
const parquet = readFileSync(
  fileURLToPath(new URL("../fixtures/parquet/zstd.parquet", import.meta.url)),
);
const lines = (...questions: readonly string[]): Buffer =>
  Buffer.from(questions.map((question) => `${JSON.stringify({ question })}\n`).join(""));

const declaring = (globs: readonly string[]): Buffer =>
  Buffer.from(`---\nconfigs:\n- data_files: ${JSON.stringify(globs)}\n---\n`);

let hub: StandInHub;
let home: string;

beforeEach(async () => {
  hub = new StandInHub();
  hub.repository = "owner/data";
  await hub.listen();
  home = mkdtempSync(join(tmpdir(), "agent-trainer-hub-data-"));
  vi.stubEnv("HF_ENDPOINT", hub.url);
  vi.stubEnv("HF_HOME", home);
  vi.stubEnv("HF_TOKEN", "hf_secret");
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await hub[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

const load = async (
  source: DatasetSource<TaskRow>,
  options: LoadDatasetOptions = {},
): Promise<string[]> =>
  Array.from(await loadDataset(source, options), ({ instruction }) => instruction);

function keepCopy(...names: readonly string[]): void {
  const files = new Map(names.map((name) => [name, parquet]));
  hub.branches.set("refs/convert/parquet", { commit: converted, files });
}
const sums = Array.from({ length: 7 }, (_, i) => `What is ${i} + ${i}? ü🙂`);

describe("a dataset on a hub", () => {
  it("is read from the hub's Parquet copy, with the token, and then from the cache", async () => {
    keepCopy("main/train/0000.parquet", "main/test/0000.parquet");
    expect(await load("hf:owner/data/main:train")).toEqual(sums);
    expect(new Set(hub.requests.map(({ authorization }) => authorization))).toEqual(
      new Set(["Bearer hf_secret"]),
    );
    expect(hub.takeDownloads().map(({ path }) => path)).toEqual([
      `/datasets/owner/data/resolve/${converted}/main/train/0000.parquet`,
    ]);
    expect(await load("hf:owner/data:train")).toEqual(sums);
    expect(hub.takeDownloads()).toEqual([]);
    vi.stubEnv("HF_HUB_OFFLINE", "1");
    expect(await load({ hub: "owner/data", config: "main", split: "train" })).toEqual(sums);
    expect(hub.requests).toEqual([]);
    await expect(load("hf:owner/data:test")).rejects.toMatchObject({
      code: "HUB_FAILED",
      reason: "offline",
      message: expect.stringContaining("main/test/0000.parquet") as string,
    });
  });

  it("that is not in the cache is refused when offline, without a request", async () => {
    vi.stubEnv("HF_HUB_OFFLINE", "1");
    await expect(load("hf:owner/data")).rejects.toMatchObject({
      reason: "offline",
      message: expect.stringMatching(/owner\/data@main is not in .*HF_HUB_OFFLINE/) as string,
    });
    expect(hub.requests).toEqual([]);
  });

  it("is read from its own files at a revision, split by what their names say", async () => {
    keepCopy("default/train/0000.parquet");
    hub.files.set("data/train-1.jsonl", lines("b"));
    hub.files.set("data/train-0.jsonl", lines("a"));
    hub.files.set("data/dev.jsonl", lines("c"));
    hub.files.set("data/train.csv", Buffer.from("question\nno\n"));
    expect(await load("hf:owner/data@main:train")).toEqual(["a", "b"]);
    expect(await load("hf:owner/data@main:validation")).toEqual(["c"]);
    await expect(load("hf:owner/data@other:train")).rejects.toMatchObject({
      reason: "not-found",
      message: expect.stringContaining('no revision "other"') as string,
    });
  });

  it("has the configurations that its README declares", async () => {
    const readme = `---
configs:
- config_name: easy
  data_files:
  - split: train
    path: [one/*.jsonl, "two/**/x.jsonl"]
- config_name: hard
  data_files: hard.jsonl
---
`;
    hub.files.set("README.md", Buffer.from(readme));
    hub.files.set("one/a.jsonl", lines("a"));
    hub.files.set("one/deep/no.jsonl", lines("no"));
    hub.files.set("two/deep/x.jsonl", lines("b"));
    hub.files.set("hard.jsonl", lines("c"));
    expect(await load("hf:owner/data/easy")).toEqual(["a", "b"]);
    expect(await load("hf:owner/data/hard:train")).toEqual(["c"]);
    await expect(load("hf:owner/data")).rejects.toThrow(
      "The dataset owner/data has several configurations: easy, hard.",
    );
  });

  it("whose README declares many stars is read without delay", async () => {
    const name = `${"a".repeat(250)}.jsonl`;
    hub.files.set(name, lines("a"));
    hub.files.set("b/ab.jsonl", lines("b"));
    // With back-tracking the first would take longer than the universe is old.
    hub.files.set("README.md", declaring([`${"*a".repeat(24)}*b.jsonl`, "**/a?.jsonl"]));
    expect(await load("hf:owner/data:train")).toEqual(["b"]);
  });

  it("whose README declares millions of stars is refused", async () => {
    hub.files.set(`${"a".repeat(240)}.jsonl`, lines("a"));
    const stars = Array.from({ length: 4_000 }, () => "*".repeat(1_000));
    hub.files.set("README.md", declaring(stars));
    await expect(load("hf:owner/data@main:train")).rejects.toThrow("take too long to match");
  });

  it("with several splits must be asked for one", async () => {
    keepCopy("default/train/0000.parquet", "default/test/0000.parquet");
    await expect(load("hf:owner/data")).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: "The dataset owner/data has several splits: test, train.",
    });
    await expect(load("hf:owner/data:dev")).rejects.toThrow('no split "dev"; it has test, train');
    await expect(load("hf:owner")).rejects.toThrow("not the name of a dataset on a hub");
  });

  it("of which the hub copied a part only is read from its own files", async () => {
    keepCopy("default/partial-train/0000.parquet");
    hub.files.set("train.jsonl", lines("whole"));
    expect(await load("hf:owner/data:train")).toEqual(["whole"]);
  });

  it("that does not exist is named as a dataset", async () => {
    await expect(load("hf:owner/none")).rejects.toMatchObject({
      reason: "not-found",
      message: expect.stringContaining("has no dataset owner/none@main") as string,
    });
  });
});
