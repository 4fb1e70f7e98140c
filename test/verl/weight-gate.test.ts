/** When calls wait, and which version they carry, while servers change their weights. */
import { expect, it } from "vitest";
import type { BackendCapabilities } from "../../src/core/backend.ts";
import { NumericsError } from "../../src/core/errors.ts";
import { createWeightGate } from "../../src/rollouts/service/weight-gate.ts";
import { coinBackend } from "../trainer/coin-backend.ts";
import { fakeRun, ppo } from "./fake-bridge.ts";

function watched(
  onUpdate: () => void = () => undefined,
  capabilities: Partial<BackendCapabilities> = { servesWhileTraining: false },
) {
  const log: string[] = [];
  const gate = {
    async pause(drainMs: number) {
      log.push(`pause ${drainMs}`);
      return 0;
    },
    resume: () => void log.push("resume"),
    setWeightVersion: (version: number) => void log.push(`version ${version}`),
  };
  const backend = coinBackend({
    capabilities,
    onUpdate: () => {
      log.push("update");
      onUpdate();
    },
  });
  const weights = createWeightGate(gate, 9);
  return {
    log,
    update: () => weights.update(backend, () => backend.updatePolicy([], ppo, fakeRun.optim)),
    publish: () => weights.publish(backend),
  };
}

it("holds calls from the update until the new weights are served", async () => {
  const { log, update, publish } = watched();
  await update();
  expect(log).toEqual(["pause 9", "update"]);
  await publish();
  expect(log.slice(2)).toEqual(["pause 9", "version 1", "resume"]);
});

it("lets calls go on during an update where servers do not share memory with training", async () => {
  const { log, update, publish } = watched(() => undefined, { servesWhileTraining: true });
  await update();
  expect(log).toEqual(["update"]);
  await publish();
  expect(log.slice(1)).toEqual(["pause 9", "version 1", "resume"]);
});

it("lets calls go on with the old weights when the update is refused", async () => {
  const { log, update } = watched(() => {
    throw new NumericsError("loss", Number.NaN);
  });
  await expect(update()).rejects.toThrow(NumericsError);
  expect(log).toEqual(["pause 9", "update", "resume"]);
});
