/** What a run changes in the process of a program that uses the library, and that it is taken back. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { coinBackend, coinProject, library, run } from "./coin-project.ts";

/** A program that trains a coin; `before` and `after` stand around it. */
function program(before: string, after: string): string {
  const folder = coinProject();
  const file = join(folder, "program.mjs");
  writeFileSync(
    file,
    `import { AgentTrainer } from ${JSON.stringify(library)};
    import { coinBackend } from ${JSON.stringify(coinBackend)};
    import { agent as ask, evaluator } from "./parts.mjs";
    const count = (event) => process.listenerCount(event);
    const { exit } = process;
    const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    let started = 0;
    ${before}
    const trainer = new AgentTrainer({
      backend: coinBackend(), evaluator,
      agentFlow: async (task, config) => {
        if (++started === 2) { void Promise.reject(new Error("of a rollout")); await sleep(50); }
        return await ask(task, config);
      },
      config: { model: { name: "coin" }, rollout: { n: 4 }, workflow: { retry_limit: 0 },
        trainer: { total_batches: 3, max_failed_fraction: 0.5, output_dir: ${JSON.stringify(join(folder, "runs"))} } },
      trainDataset: [{ question: "a" }, { question: "b" }],
      onEvent: (event) => { if (event.type === "warning") console.log("told", event.message); },
    });
    const now = [count("unhandledRejection"), count("uncaughtException"), count("exit")];
    const result = await trainer.train().catch((error) => ({ status: error.code + " " + error.message }));
    console.log(result.status, JSON.stringify(now) ===
      JSON.stringify([count("unhandledRejection"), count("uncaughtException"), count("exit")]), process.exit === exit);
    ${after}`,
  );
  return file;
}

it("fails the rollout, ends, and leaves no handler behind", async () => {
  const { code, out, err } = await run([program("", "")]);
  expect(code, err).toBe(0);
  expect(out).toMatch(/told .* and fails it: Error: of a rollout\.\n/);
  expect(out).toMatch(/^completed true true$/m);
});

it("rejects with an error that no rollout owns", async () => {
  const { code, out } = await run([
    program('setTimeout(() => { throw new Error("of nobody"); }, 100);', ""),
  ]);
  expect(code).toBe(0);
  expect(out).toMatch(/^USER_CODE_FAILED A timer .* of nobody .* true true$/m);
});

it("leaves such errors to a program that handles them itself", async () => {
  const { code, out, err } = await run([
    program(
      `process.on("uncaughtException", (error) => console.log("mine", error.message));
      setTimeout(() => { throw new Error("of nobody"); }, 100);`,
      "",
    ),
  ]);
  expect(code, err).toBe(0);
  expect(out).toContain("mine of nobody");
  expect(out).toMatch(/^completed true true$/m);
});

it("lets the program exit, and says that the run has no result", async () => {
  const { code, out, err } = await run([program("setTimeout(() => process.exit(0), 100);", "")]);
  expect(code).toBe(1);
  expect(out).not.toContain("completed");
  expect(err).toContain("The process exited with status 0 during the run.");
});

it("takes care of nothing after the run", async () => {
  const { code, err } = await run([program("", 'void Promise.reject(new Error("afterwards"));')]);
  expect(code).toBe(1);
  expect(err).toContain("afterwards");
});
