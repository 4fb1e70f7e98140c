import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Episode } from "../core/trajectory.ts";
import { pruneCheckpoints, readCheckpoint, type RunState, saveCheckpoint } from "./checkpoint.ts";
import type { TaskRollouts } from "../rollouts/task-rollouts.ts";

const folder = (): string => mkdtempSync(join(tmpdir(), "agent-trainer-checkpoint-"));

const stateOf = (step: number): RunState => ({
  step,
  position: { next: 3 * step, pending: [step] },
  skippedUpdates: 1,
  best: { step: 1, value: 0.5 },
  weightVersion: step,
  hasUnservedWeights: true,
  resumeVersions: [2, 5],
  validatedStep: -1,
  configHash: "c",
  dataHash: "d",
});

const rollouts: readonly TaskRollouts[] = [
  {
    key: "3/a",
    since: 2,
    episodes: [
      {
        id: "3/a/0",
        trajectories: [
          {
            steps: [
              {
                promptIds: Int32Array.of(1, -2, 2 ** 31 - 1),
                // Views into a larger buffer, as traces are.
                responseIds: Int32Array.of(9, 8, 7, 6).subarray(1, 3),
                logprobs: Float32Array.of(-0.1, -1e-40),
              },
            ],
            reward: Number.NaN,
          },
        ],
        reward: -Infinity,
      } as unknown as Episode,
    ],
  },
];

const save = (root: string, step: number, buffered?: readonly TaskRollouts[]): Promise<string> =>
  saveCheckpoint(
    root,
    stateOf(step),
    async (into) => writeFileSync(join(into, "weights.bin"), "abc"),
    buffered,
  );

describe("a checkpoint", () => {
  it("gives back what was saved, rollouts bit by bit", async () => {
    const root = folder();
    await save(root, 4, rollouts);
    const read = await readCheckpoint(root, 4);
    expect(read.state).toEqual(stateOf(4));
    expect(read.rollouts).toEqual(rollouts);
    expect(readFileSync(join(read.weights, "weights.bin"), "utf8")).toBe("abc");
  });

  it.each(["rollouts.jsonl", join("weights", "weights.bin")])(
    "is refused when %s has changed or is missing",
    async (name) => {
      const root = folder();
      const path = await save(root, 4, rollouts);
      const file = join(path, name);
      const bytes = readFileSync(file);
      bytes[1] = (bytes[1] ?? 0) ^ 1;
      writeFileSync(file, bytes);
      await expect(readCheckpoint(root, 4)).rejects.toThrow(`the content of ${name} has changed`);
      writeFileSync(file, `${readFileSync(file, "utf8")}x`);
      await expect(readCheckpoint(root, 4)).rejects.toThrow("bytes instead of");
      rmSync(file);
      await expect(readCheckpoint(root, 4)).rejects.toThrow(`${name} is missing`);
    },
  );

  it.each(["state.json", "state.sha256"])(
    "is refused for every bit of %s that flips",
    async (name) => {
      const root = folder();
      const file = join(await save(root, 4, rollouts), name);
      const bytes = readFileSync(file);
      let accepted = 0;
      for (let bit = 0; bit < 8 * bytes.length; bit++) {
        const flipped = Buffer.from(bytes);
        flipped[bit >> 3]! ^= 1 << (bit & 7);
        writeFileSync(file, flipped);
        accepted += await readCheckpoint(root, 4).then(
          () => 1,
          (error: unknown) => {
            expect(error).toMatchObject({ code: "CHECKPOINT_INVALID" });
            return 0;
          },
        );
      }
      expect(accepted).toBe(0);
      rmSync(file);
      await expect(readCheckpoint(root, 4)).rejects.toThrow(`${name} is missing`);
    },
  );

  it("of another format is refused, with both formats named", async () => {
    const root = folder();
    const path = await save(root, 4);
    const state = readFileSync(join(path, "state.json"), "utf8").replace("/4", "/3");
    writeFileSync(join(path, "state.json"), state);
    const hash = createHash("sha256").update(state).digest("hex");
    writeFileSync(join(path, "state.sha256"), `${hash}  state.json\n`);
    await expect(readCheckpoint(root, 4)).rejects.toThrow(
      'its format is "agent-trainer/checkpoint/3", not "agent-trainer/checkpoint/4"',
    );
  });

  it("of the best step stays when older ones go", async () => {
    const root = folder();
    for (const step of [1, 2, 3, 4]) await save(root, step);
    await pruneCheckpoints(root, 2, 1);
    expect(readdirSync(root).sort()).toEqual(["000001", "000003", "000004"]);
  });
});
