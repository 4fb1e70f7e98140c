/** Run folders that cannot be written: what happened, where, and what to do, in every case. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { coinBackend, coinProject, start, type Finished } from "./coin-project.ts";

const train = (folder: string, ...overrides: string[]): Promise<Finished> =>
  start(["train", join(folder, "run.yaml"), ...overrides]);

function expectSentence({ code, out, err }: Finished, sentence: RegExp): void {
  expect(err).toMatch(sentence);
  expect([code, out]).toEqual([1, ""]);
  expect(err).not.toContain("--verbose");
  expect(err).not.toContain("\n    at ");
}

/** Links the record of step 2's episodes to a full disk while step 1 runs. */
const fillingAgent = `import { symlinkSync } from "node:fs";
  import { agent as ask } from "./parts.mjs";
  let isFull = false;
  export function agent(task, config) {
    if (!isFull) symlinkSync("/dev/full", new URL("runs/coin/episodes/000002.jsonl.incomplete", import.meta.url));
    isFull = true;
    return ask(task, config);
  }`;

describe.runIf(process.platform === "linux")("a run folder", () => {
  it("that cannot be made", async () => {
    const ended = await train(coinProject(), "trainer.output_dir=/sys/agent-trainer");
    expectSentence(
      ended,
      /error: Cannot make the folder \/sys\/agent-trainer\/\S*: .+ \(E\w+\)\.\n.*trainer\.output_dir is \/sys\/agent-trainer/,
    );
  });

  it.each([
    ["false", []],
    ["--resume", ["--resume"]],
  ])("whose output_dir is a file; resume %s", async (_name, flags) => {
    const folder = coinProject({ taken: "" });
    const ended = await train(
      folder,
      `trainer.output_dir=${folder}/taken`,
      "~trainer.experiment_name",
      ...flags,
    );
    expectSentence(
      ended,
      /error: Cannot .*\/taken\S*: .+ \((?:ENOTDIR|EEXIST)\)\.\n.*trainer\.output_dir is \S+\/taken/,
    );
  });

  it("whose lock is a folder", async () => {
    const folder = coinProject();
    mkdirSync(join(folder, "runs/coin/run.lock"), { recursive: true });
    expectSentence(await train(folder), /error: \S+run\.lock is a folder.*\n.*delete it\./);
    expect(readdirSync(join(folder, "runs/coin")).sort()).toEqual(["checkpoints", "run.lock"]);
  });

  it("on a disk that is full: the step before is saved, and the lock given back", async () => {
    const folder = coinProject({ "mine.mjs": fillingAgent });
    const ended = await train(folder, "agent=mine.mjs");
    expectSentence(
      ended,
      /error: Cannot write \S+000002\.jsonl: the disk is full \(ENOSPC\)\.\nFree space/,
    );
    const runDir = join(folder, "runs/coin");
    expect(readdirSync(join(runDir, "checkpoints"))).toEqual(["000001"]);
    expect(existsSync(join(runDir, "run.lock"))).toBe(false);
  });

  it("that has no room for a checkpoint: nothing half is left", async () => {
    const folder = coinProject();
    writeFileSync(
      join(folder, "full.ts"),
      `import { writeFileSync } from "node:fs";
      import { join } from "node:path";
      import { coinBackend } from ${JSON.stringify(coinBackend)};
      export function createBackend() {
        const backend = coinBackend();
        backend.saveState = async (folder: string) => {
          writeFileSync(join(folder, "weights.bin"), "half");
          writeFileSync("/dev/full", "x");
        };
        return backend;
      }`,
    );
    const ended = await train(folder, "backend=full.ts");
    expectSentence(ended, /error: Cannot write \S+: the disk is full \(ENOSPC\)\.\nFree space/);
    expect(readdirSync(join(folder, "runs/coin/checkpoints"))).toEqual([]);
  });
});
