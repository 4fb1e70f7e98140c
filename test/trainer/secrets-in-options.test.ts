/** Keys in addresses and commands are nowhere in a run's folder, and a run is resumed all the same. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { coinTrainer, newFolder } from "./coin-run.ts";

const secret = "hunter2-and-3";
const set = {
  "gateway.public_url": null,
  "tracking.mlflow.url": `https://me:${secret}@mlflow.example`,
  "tinker.base_url": `https://me:${secret}@tinker.example`,
  "trainer.save_freq": 1,
};

const filesOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

it("leaves none in any file, and resumes exactly", async () => {
  const outputDir = newFolder();
  const first = coinTrainer({ outputDir, set: { ...set, "trainer.total_batches": 2 } });
  const { runDir } = await first.trainer.train();
  const config = join(runDir, "config.resolved.yaml");
  expect(readFileSync(config, "utf8")).toContain("https://[redacted]@mlflow.example");
  if (process.platform !== "win32") expect(statSync(config).mode & 0o777).toBe(0o600);
  const second = coinTrainer({
    outputDir,
    resume: runDir,
    set: { ...set, "trainer.total_batches": 4 },
  });
  expect(await second.trainer.train()).toMatchObject({ status: "completed", steps: 4 });
  expect(second.events.filter(({ type }) => type === "config-change")).toMatchObject([
    { changes: [{ option: "trainer.total_batches" }] },
  ]);
  const found = filesOf(runDir).filter((file) => readFileSync(file).includes(secret));
  expect(found).toEqual([]);
});

it("does not start with what a run's folder has in place of a key", async () => {
  const outputDir = newFolder();
  const { trainer } = coinTrainer({ outputDir, set });
  const { runDir } = await trainer.train();
  const tree = parse(readFileSync(join(runDir, "config.resolved.yaml"), "utf8")) as {
    tracking: { mlflow: { url: string } };
  };
  const again = coinTrainer({
    outputDir: newFolder(),
    set: { "tracking.mlflow.url": tree.tracking.mlflow.url },
  });
  await expect(again.trainer.train()).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining("tracking.mlflow.url") as unknown,
    fields: { option: "tracking.mlflow.url" },
  });
});
