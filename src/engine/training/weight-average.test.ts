import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  adaptedPolicy,
  randomTokens,
  rowOf,
  smallPolicy,
} from "../../../test/engine/small-model.ts";
import { defaultLoss, defaultOptim } from "../../core/loss/loss.ts";
import { loadPolicyState, savePolicyState } from "../checkpoint/policy-state.ts";
import { writeTrained, type Policy } from "../decoder/policy.ts";
import { PolicyTrainer } from "./trainer.ts";

const averageDecay = 0.7;
const options = { memoryMiB: 0.5, averageDecay };
const rows = [rowOf(randomTokens(1, 9), 2, { advantage: 1 }), rowOf(randomTokens(2, 17), 3)];

const step = async (trainer: PolicyTrainer): Promise<void> => {
  await trainer.forwardBackward(rows, defaultLoss);
  await trainer.optimStep({ ...defaultOptim, learningRate: 0.01 });
};

const copyOf = (data: ReadonlyMap<string, Float32Array>): Map<string, Float32Array> =>
  new Map(Array.from(data, ([name, values]) => [name, values.slice()]));

it.each([
  ["an adapter", adaptedPolicy],
  ["every weight", smallPolicy],
] as const)("of %s is that of the steps, and is computed with alone", async (_name, make) => {
  const policy: Policy = await make();
  const trainer = new PolicyTrainer(policy, options);
  const expected = copyOf(policy.data);
  for (let i = 0; i < 3; i++) {
    await step(trainer);
    for (const [name, values] of expected)
      for (const k of values.keys())
        values[k] = averageDecay * values[k]! + (1 - averageDecay) * policy.data.get(name)![k]!;
  }
  expect(trainer.average).toEqual(expected);

  const current = await trainer.forward(rows);
  const averaged = await trainer.forward(rows, "average");
  expect(await trainer.forward(rows)).toEqual(current);
  const other: Policy = await make();
  for (const [name, values] of expected) other.data.get(name)!.set(values);
  await writeTrained(other, other.weights);
  expect(averaged).toEqual(await new PolicyTrainer(other, { memoryMiB: 0.5 }).forward(rows));
  expect(averaged).not.toEqual(current);
});

it("is a part of the saved state, without which nothing is restored", async () => {
  const folder = mkdtempSync(join(tmpdir(), "average-"));
  try {
    const policy = await adaptedPolicy();
    const trainer = new PolicyTrainer(policy, options);
    await step(trainer);
    await savePolicyState(policy, trainer, null, folder);
    const again = await adaptedPolicy();
    const resumed = new PolicyTrainer(again, options);
    await loadPolicyState(again, resumed, folder);
    expect(resumed.average).toEqual(trainer.average);

    const bare = mkdtempSync(join(folder, "bare-"));
    await savePolicyState(policy, { adam: trainer.adam }, null, bare);
    await expect(loadPolicyState(again, resumed, bare)).rejects.toThrow("no averaged weights");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it("is refused where none is kept", async () => {
  const trainer = new PolicyTrainer(await adaptedPolicy(), { memoryMiB: 0.5 });
  await expect(trainer.forward(rows, "average")).rejects.toThrow("no average is kept");
});
