import { describe, expect, it } from "vitest";
import { flowProgram, runFunctionProgram } from "../programs/function-programs.ts";
import { Workflow } from "../workflow/workflow.ts";
import { workflowProgram } from "../workflow/workflow-program.ts";
import { loadConfig } from "../../config/load.ts";
import { wayNotices } from "./agent-warnings.ts";

class Nothing extends Workflow {
  run(): void {}
}

const flow = { program: flowProgram<never>(() => "x"), evaluator: () => true };
const workflow = { program: workflowProgram<never>(Nothing), evaluator: () => true };
const alone = { program: runFunctionProgram<never>(() => 1), evaluator: null };
const hooked = { ...alone, hooks: { setUp: () => {} } };

const warnings = (way: Parameters<typeof wayNotices>[1], ...overrides: string[]): string[] =>
  wayNotices(loadConfig({ overrides: ["model.name=m", ...overrides] }).config, way);

describe("wayNotices", () => {
  it.each([flow, workflow, alone, hooked])("has nothing to say of the defaults", (way) => {
    expect(warnings(way)).toEqual([]);
  });

  it("tells where rollout.reward_source has no effect, and only there", () => {
    const set = "rollout.reward_source=rollout";
    expect(warnings(flow, set)).toEqual([expect.stringContaining("scored by its evaluator")]);
    expect(warnings(alone, set)).toEqual([expect.stringContaining("there is no evaluator")]);
    expect(warnings(workflow, set)).toEqual([]);
    expect(warnings(hooked, set)).toEqual([]);
  });

  it("tells that an evaluator takes the rewards of single steps away", () => {
    const perStep = ["stepwise_advantage.enable=true", "stepwise_advantage.mode=per_step"];
    expect(warnings(workflow, ...perStep)).toEqual([expect.stringContaining("mode=per_step")]);
    expect(warnings(workflow, ...perStep, "rollout.reward_source=rollout")).toEqual([]);
    expect(warnings(flow, ...perStep)).toEqual([]);
  });

  it("tells of the limit on turns that functions do not have", () => {
    const enable = "algorithm.excluded_reasons=[max_turns_exceeded]";
    const turns = [expect.stringContaining("max_turns_exceeded in algorithm.excluded_reasons")];
    expect(warnings(flow, enable)).toEqual(turns);
    expect(warnings(alone, enable)).toEqual(turns);
    expect(warnings(workflow, enable)).toEqual([]);
    expect(warnings(flow, "algorithm.excluded_reasons=[timeout]")).toEqual([]);
  });
});
