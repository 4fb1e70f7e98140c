/** A dataset in a file gives the batches and the hash of the same dataset in memory, and so the same run. */
import { expect, it } from "vitest";
import type { Task } from "../../core/task.ts";
import { loadDataset } from "../../launch/load-dataset.ts";
import { hashDataset } from "../../runs/run-identity.ts";
import { createBatchPlan } from "../../runs/batches.ts";

const rows = Array.from({ length: 101 }, (_, i) => ({ question: `q${i}`, difficulty: i % 7 }));

it("is trained on in the same order, from any step", async () => {
  const inMemory = (await loadDataset(rows)) as readonly Task[];
  const stored = await loadDataset(rows, { maxMemoryBytes: 0 });
  const rank = (task: Task): number => task.metadata["difficulty"] as number;
  for (const options of [{}, { rank }]) {
    const [a, b] = [inMemory, stored].map((tasks) =>
      createBatchPlan(tasks, { batchSize: 8, seed: 5, ...options }),
    );
    // A resumed run begins at any step, and asks for no other before.
    for (const step of [40, 1, 13, 14, 26]) expect(b!.batch(step)).toEqual(a!.batch(step));
  }
  expect(hashDataset(stored)).toBe(hashDataset(inMemory));
  expect(hashDataset(stored, rank)).toBe(hashDataset(inMemory, rank));
});

it("has the hash of earlier versions", async () => {
  const tasks = (await loadDataset([{ question: "a" }, { question: "b" }])) as readonly Task[];
  // printf '[["0","a"],["1","b"]]' | sha256sum
  expect(hashDataset(tasks)).toBe(
    "731736d51f9846e12c51af007e2cb68c51e8c4c638111476eb2adef9dabf3011",
  );
});
