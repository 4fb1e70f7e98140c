/** Several adapters on one base: each learns what it would learn alone, all of them or none. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { randomTokens, rowOf, smallPolicy } from "../../test/engine/small-model.ts";
import { defaultLoss, defaultOptim } from "../core/loss/loss.ts";
import type { TrainingRow } from "../core/loss/training-row.ts";
import { PolicyEngine } from "./policy-engine.ts";

const lora = { rank: 4, alpha: 8 };
const loss = { ...defaultLoss, name: "importance_sampling" } as const;
const optim = { ...defaultOptim, learningRate: 1e-2 };
const adapters = [
  { name: "solver", seed: 5 },
  { name: "judge", seed: 6 },
];
const create = (own = adapters): Promise<PolicyEngine> =>
  smallPolicy(lora).then((policy) => PolicyEngine.create(policy, { adapters: own }));

const plain = [1, 2, 3, 4, 5].map((seed) => rowOf(randomTokens(seed, 20 + 5 * seed), 4));
const rowsOf = (adapter?: string): TrainingRow[] =>
  plain.map((row) => (adapter === undefined ? row : { ...row, adapter }));
const mixed = ["solver", "judge", undefined].map(rowsOf);
/** Rows of all adapters, in turn. */
const all = plain.flatMap((_, i) => mixed.map((rows, k) => rows[(i + k) % rows.length]!));
const of = (adapter?: string): TrainingRow[] => all.filter((row) => row.adapter === adapter);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "adapters-"));
});
afterAll(() => rm(folder, { recursive: true }));

it("trains each as if it were alone, to the bit", async () => {
  await using together = await create();
  const metrics = [
    await together.update(all, loss, optim),
    await together.update(all, loss, optim),
  ];
  const found = await together.forward(all);
  for (const adapter of ["solver", "judge", undefined]) {
    await using alone = await create();
    const own = of(adapter);
    for (const joined of metrics) {
      const single = await alone.update(own, loss, optim);
      for (const key of ["loss", "grad_norm", "tokens", "kl_k3", "ratio_max"])
        expect(joined[`adapters/${adapter ?? "default"}/${key}`]).toBe(single[key]);
    }
    expect(await alone.forward(own)).toEqual(found.filter((_, i) => all[i]!.adapter === adapter));
  }
  const [first] = metrics;
  expect(first!["tokens"]).toBe(
    all.reduce((sum, row) => sum + row.targetMask.filter(Boolean).length, 0),
  );
  const norms = ["solver", "judge", "default"].map((name) => first![`adapters/${name}/grad_norm`]!);
  expect(first!["grad_norm"]).toBeCloseTo(Math.hypot(...norms), 10);
  // A row of one adapter says nothing of another.
  await using untouched = await create();
  const before = await untouched.forward(of("judge"));
  await untouched.update(of("solver"), loss, optim);
  expect(await untouched.forward(of("judge"))).toEqual(before);
});

it("changes all or none", async () => {
  await using engine = await create();
  const before = await engine.forward(all);
  const spoiled = { ...rowsOf("judge")[0]!, advantages: new Float32Array(25).fill(NaN) };
  await expect(engine.update([...of("solver"), spoiled], loss, optim)).rejects.toMatchObject({
    code: "NUMERICS",
  });
  expect(await engine.forward(all)).toEqual(before);
  let checks = 0;
  const refuse = (): void => {
    if (++checks === 3) throw new Error("beyond a limit");
  };
  await expect(engine.update(all, loss, optim, refuse)).rejects.toThrow("beyond a limit");
  expect(await engine.forward(all)).toEqual(before);
  // Nothing was left over for the next update.
  await using other = await create();
  expect(await engine.update(all, loss, optim)).toEqual(await other.update(all, loss, optim));
});

it("continues from what was saved, and refuses what lacks an adapter", async () => {
  await using engine = await create();
  await engine.update(all, loss, optim);
  await engine.save(folder);
  await using other = await create();
  await other.load(folder, 3);
  const next = await engine.update(all, loss, optim);
  expect(await other.update(all, loss, optim)).toEqual(next);
  expect(await other.forward(all)).toEqual(await engine.forward(all));
  await using third = await create([...adapters, { name: "critic", seed: 1 }]);
  await expect(third.load(folder, 1)).rejects.toMatchObject({
    code: "CHECKPOINT_INVALID",
    message: expect.stringContaining('no adapter "critic"') as string,
  });
  await using fresh = await create([...adapters, { name: "critic", seed: 1 }]);
  expect(await third.forward(all)).toEqual(await fresh.forward(all));
});

it("refuses rows of an adapter that it does not have", async () => {
  await using engine = await create();
  await expect(engine.update(rowsOf("critic"), loss, optim)).rejects.toThrow('adapter "critic"');
});
