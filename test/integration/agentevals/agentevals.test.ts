/** The verdicts of `agentevals` on random trajectories, which the unit tests of `trajectoryMatch` expect. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { randomPairs, settings } from "../../evaluators/random-trajectories.ts";
import { root } from "../root.ts";
import { runCommand } from "../run-command.ts";

interface Agentevals {
  readonly createTrajectoryMatchEvaluator: (
    options: object,
  ) => (trajectories: {
    readonly outputs: unknown;
    readonly referenceOutputs: unknown;
  }) => Promise<{ readonly score: boolean }>;
}

const packages = ["agentevals@0.0.7", "@langchain/core@1", "@langchain/langgraph@1"];
const folder = join(root, ".cache", "integration", "agentevals");
const main = join(folder, "node_modules/agentevals/dist/index.js");
if (!existsSync(main)) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"private": true}');
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund"];
  runCommand("npm", ["install", ...flags, ...packages], { cwd: folder });
}

it("are those of test/evaluators/agentevals-verdicts.txt", async () => {
  const { createTrajectoryMatchEvaluator } = (await import(pathToFileURL(main).href)) as Agentevals;
  const evaluators = settings.map(({ mode, toolArgs }) => {
    const { "*": others = "exact", ...overrides } =
      typeof toolArgs === "string" ? { "*": toolArgs } : toolArgs;
    return createTrajectoryMatchEvaluator({
      trajectoryMatchMode: mode,
      toolArgsMatchMode: others,
      toolArgsMatchOverrides: overrides,
    });
  });
  const lines: string[] = [];
  for (const { made: outputs, reference: referenceOutputs } of randomPairs(1000)) {
    const results = await Promise.all(evaluators.map((one) => one({ outputs, referenceOutputs })));
    lines.push(results.map(({ score }) => Number(score)).join(""));
  }
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot(
    "../../evaluators/agentevals-verdicts.txt",
  );
});
