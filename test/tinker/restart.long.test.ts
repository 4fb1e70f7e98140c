/** A server that is killed in the middle of a run: the run ends with a reason, and goes on where it was. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeAll, expect, it } from "vitest";
import { bundleProgram } from "../bundle-program.ts";
import { newFolder, run, viaTinker, expectClose } from "./shop-run.ts";

let program: string;
beforeAll(async () => {
  program = await bundleProgram(join(import.meta.dirname, "serve-child.ts"));
});
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
});

async function serve(
  folder: string,
  port = 0,
): Promise<{ url: string; kill: () => Promise<void> }> {
  const child = spawn(process.execPath, [program, folder, String(port)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  return { url, kill };
}

it("resumes to the numbers of a run that nobody disturbed", async () => {
  const folder = newFolder();
  const options = { steps: 4, set: { "trainer.save_freq": 2 } };
  const first = await serve(folder);
  const expected = await run(viaTinker({ baseUrl: first.url }), "shop-tiny", options);

  const outputDir = newFolder();
  let restarted: Promise<unknown> = Promise.resolve();
  const restart = async (): Promise<void> => {
    await first.kill();
    await serve(folder, Number(new URL(first.url).port));
  };
  const disturbed = run(viaTinker({ baseUrl: first.url }), "shop-tiny", {
    ...options,
    set: { ...options.set, "trainer.output_dir": outputDir },
    // In the fourth step, whatever it is doing.
    onStepEnd: (step) => void (step === 3 && setTimeout(() => (restarted = restart()), 10)),
  });
  // A sentence about what is gone and what to do, and neither a hang nor a step on fresh weights.
  await expect(disturbed).rejects.toThrow(
    /is not loaded|There is no sampler|is gone from the server/u,
  );
  await restarted;
  const runDir = join(outputDir, readdirSync(outputDir)[0]!);
  expect(existsSync(join(runDir, "checkpoints", "000002"))).toBe(true);
  const resumed = await run(viaTinker({ baseUrl: first.url }), "shop-tiny", {
    ...options,
    resume: runDir,
  });
  expectClose(resumed.metrics, expected.metrics);
});
