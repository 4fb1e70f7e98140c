/** The verdicts of `agentevals` on random trajectories, which the unit tests of `trajectoryMatch` expect. */
import { expect, it } from "vitest";
import { randomPairs, settings } from "../../evaluators/random-trajectories.ts";
import { npmPackages } from "../npm-packages.ts";

interface Agentevals {
  readonly createTrajectoryMatchEvaluator: (
    options: object,
  ) => (trajectories: {
    readonly outputs: unknown;
    readonly referenceOutputs: unknown;
  }) => Promise<{ readonly score: boolean }>;
}

const packages = ["agentevals@0.0.7", "@langchain/core@1", "@langchain/langgraph@1"];
const load = npmPackages("agentevals", packages);

it("are those of test/evaluators/agentevals-verdicts.txt", async () => {
  const { createTrajectoryMatchEvaluator } = (await load("agentevals")) as Agentevals;
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
