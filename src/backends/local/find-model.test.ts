import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { findModel } from "./find-model.ts";

/** A folder with these files, which are empty objects. */
function folderOf(...files: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "agent-trainer-find-"));
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), "{}");
  }
  return folder;
}

describe("findModel of what a run leaves", () => {
  const step = (name: string): string[] => [
    `checkpoints/${name}/state.json`,
    `checkpoints/${name}/weights/config.json`,
  ];

  it("takes the newest whole checkpoint of a run", async () => {
    const run = folderOf(
      "config.resolved.yaml",
      ...step("000009"),
      ...step("000010"),
      ...step(".damaged-000011"),
      ...step(".tmp-000012"),
      "checkpoints/000013/weights/config.json",
    );
    const weights = join(run, "checkpoints/000010/weights");
    expect(await findModel(run)).toEqual({ path: weights, name: weights });
    expect(await findModel(join(run, "checkpoints/000009"))).toEqual({
      path: join(run, "checkpoints/000009/weights"),
      name: join(run, "checkpoints/000009/weights"),
    });
  });

  it("says that a run has none yet", async () => {
    const run = folderOf("config.resolved.yaml");
    await expect(findModel(run)).rejects.toThrow(`The run ${run} has no checkpoint yet`);
  });

  it("says how an adapter becomes a model", async () => {
    const run = folderOf(
      "checkpoints/000001/weights/adapter_config.json",
      "checkpoints/000001/weights/adapter_model.safetensors",
    );
    await expect(findModel(join(run, "checkpoints/000001/weights"))).rejects.toMatchObject({
      hint: expect.stringContaining(
        `agent-trainer model merge ${join(run, "checkpoints/000001/weights")} --into OUT`,
      ) as string,
    });
  });

  it("does not ask a hub for a run that is not there", async () => {
    const runs = folderOf("shop/config.resolved.yaml", "note/config.json");
    await expect(findModel(join(runs, "shp"))).rejects.toMatchObject({
      message: `There is no run or model "${join(runs, "shp")}": ${join(runs, "shp")} does not exist.`,
      hint: expect.stringContaining(`Did you mean ${join(runs, "shop")}?`) as string,
    });
    await expect(findModel("runs/NOTHING")).rejects.toThrow(
      'There is no run or model "runs/NOTHING"',
    );
  });
});
