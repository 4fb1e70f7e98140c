import { join } from "node:path";
import { expect, it } from "vitest";
import { cli, steadyMetrics, temporaryFolder, writeConfig } from "./cli-process.ts";

const training = "{ learning_rate: 5.0e-4, lr_schedule: constant }";
const trainer = (steps: number): string =>
  `{ total_batches: ${steps}, save_freq: 1, experiment_name: run, seed: 5 }`;

type Lines = Record<string, unknown>[];
const undisturbedRuns = new Map<string, Promise<Lines>>();

/** Of a run that nobody disturbs; one for each model. */
function undisturbed(model: string): Promise<Lines> {
  const known = undisturbedRuns.get(model) ?? runUndisturbed(model);
  undisturbedRuns.set(model, known);
  return known;
}

async function runUndisturbed(model: string): Promise<Lines> {
  await using folder = await temporaryFolder();
  const config = await writeConfig(folder.path, { model, training, trainer: trainer(4) });
  const { code, stderr } = await cli(["train", config], { cwd: folder.path });
  expect(code, stderr).toBe(0);
  return await steadyMetrics(join(folder.path, "runs/run"));
}

/** Kills a run of four steps some way into its third one, and lets another go on. */
async function killAndResume(config: string, cwd: string): Promise<void> {
  let killed = false;
  const first = await cli(["train", config], {
    cwd,
    onOutput(text, kill) {
      if (killed || !/\b2\/4\b/.test(text)) return;
      killed = true;
      setTimeout(() => kill("SIGKILL"), 60);
    },
  });
  expect(first.signal).toBe("SIGKILL");
  const { code, stderr } = await cli(["train", config, "--resume"], { cwd });
  expect(code, stderr).toBe(0);
}

const models = {
  "all weights": "{ name: 'builtin:shop-tiny' }",
  LoRA: "{ name: 'builtin:shop-tiny', lora_rank: 4, lora_alpha: 8 }",
};

it("after the end: goes on as one longer run would have", async () => {
  await using folder = await temporaryFolder();
  const model = models["all weights"];
  const first = await writeConfig(folder.path, { model, training, trainer: trainer(2) });
  expect((await cli(["train", first], { cwd: folder.path })).code).toBe(0);
  const longer = await writeConfig(folder.path, { model, training, trainer: trainer(4) });
  const { code, stderr } = await cli(["train", longer, "--resume"], { cwd: folder.path });
  expect(code, stderr).toBe(0);
  // The share that is done refers to the planned length, which was another for the first part.
  const withoutPlan = (lines: Lines): Lines =>
    lines.map((line) => ({ ...line, "progress/done_fraction": null }));
  const continued = withoutPlan(await steadyMetrics(join(folder.path, "runs/run")));
  expect(continued).toEqual(withoutPlan(await undisturbed(model)));
});

it.each(Object.entries(models))(
  "%s, after kill -9 in the middle of a step: nothing lost, nothing doubled",
  async (_, model) => {
    await using folder = await temporaryFolder();
    const config = await writeConfig(folder.path, { model, training, trainer: trainer(4) });
    await killAndResume(config, folder.path);
    expect(await steadyMetrics(join(folder.path, "runs/run"))).toEqual(await undisturbed(model));
  },
);

it("overlapped, after kill -9: every step once, and goes on", async () => {
  await using folder = await temporaryFolder();
  const config = await writeConfig(folder.path, {
    training,
    trainer: trainer(4),
    async_training: "{ enable: true, staleness_threshold: 2 }",
  });
  await killAndResume(config, folder.path);
  const steps = await steadyMetrics(join(folder.path, "runs/run"));
  expect(steps.map((line) => line["step"])).toEqual([1, 2, 3, 4]);
  expect(Math.max(...steps.map((line) => Number(line["async/staleness_max"])))).toBeLessThan(3);
});

it("Ctrl-C saves the last step, exits with 130 and prints a command that resumes", async () => {
  await using folder = await temporaryFolder();
  const config = await writeConfig(folder.path, { training, trainer: trainer(200) });
  let sent = false;
  const { code, stderr } = await cli(["train", config], {
    cwd: folder.path,
    onOutput(text, kill) {
      if (sent || !/\b2\/200\b/.test(text)) return;
      sent = true;
      kill("SIGINT");
    },
  });
  expect(code).toBe(130);
  expect(stderr).toMatch(/--resume \S*runs\/run/);
  const done = (await steadyMetrics(join(folder.path, "runs/run"))).length;
  const steps = String(done + 1);
  const again = await cli(
    ["train", config, "--resume", "runs/run", `trainer.total_batches=${steps}`],
    { cwd: folder.path },
  );
  expect(again.code, again.stderr).toBe(0);
  expect((await steadyMetrics(join(folder.path, "runs/run"))).length).toBe(done + 1);
});
