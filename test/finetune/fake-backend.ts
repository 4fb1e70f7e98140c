/** A backend without a model: its loss is a list, and its weights are the number of updates. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BackendCapabilities, TrainingBackend } from "../../src/core/backend.ts";
import { NumericsError } from "../../src/core/errors.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";
import { allCapabilities } from "../trainer/coin-backend.ts";

export interface FakeBackend extends TrainingBackend {
  readonly updates: readonly (readonly TrainingRow[])[];
}

/**
 * @param losses [update] mean -log p of every token after so many updates; the last one stays. An update to
 * one that is not finite is refused.
 */
export function fakeBackend(
  losses: readonly number[],
  capabilities: Partial<BackendCapabilities> = {},
): FakeBackend {
  let count = 0;
  const updates: (readonly TrainingRow[])[] = [];
  return {
    name: "fake",
    capabilities: { ...allCapabilities, forward: true, ...capabilities },
    updates,
    start: async () => createScriptedTarget(() => "yes"),
    async updatePolicy(rows) {
      updates.push(rows);
      const loss = losses[Math.min(count++, losses.length - 1)]!;
      if (!Number.isFinite(loss)) throw new NumericsError("loss", loss);
      return { loss, tokens: rows.length };
    },
    async forward(rows) {
      const loss = losses[Math.min(count, losses.length - 1)]!;
      return rows.map(({ tokens }) => new Float32Array(tokens.length).fill(-loss));
    },
    publishWeights: async () => 1,
    saveState: (folder) => writeFile(join(folder, "count"), String(count)),
    async loadState(folder) {
      count = Number(await readFile(join(folder, "count"), "utf8"));
    },
    async [Symbol.asyncDispose]() {},
  };
}
