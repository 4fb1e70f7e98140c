/** The policy as its own teacher: its log-probabilities, its divergences, its hints, and a run that learns. */
import { describe, expect, it } from "vitest";
import { createLocalBackend } from "../../src/backends/local/index.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { SamplerTarget } from "../../src/core/backend.ts";
import type { ChatMessage } from "../../src/core/message.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import { loadHint } from "../../src/launch/teacher/load-hint.ts";
import { divergenceAdvantage } from "../../src/trainer/update/distillation.ts";
import type { TrainConfig } from "../../src/config/train-config.ts";
import { makeStep } from "../make-step.ts";
import { episode, rowsOf } from "./options/episodes.ts";

type Divergence = TrainConfig["distillation"]["divergence"];

const softmax = (logits: readonly number[]): number[] => {
  const sum = logits.reduce((total, x) => total + Math.exp(x), 0);
  return logits.map((x) => Math.exp(x) / sum);
};

const divergences: readonly (readonly [Divergence, (s: number, t: number) => number])[] = [
  ["reverse", (s, t) => s * Math.log(s / t)],
  ["forward", (s, t) => t * Math.log(t / s)],
];

describe("the advantages of a divergence", () => {
  const policy = [0.3, -1, 0.8, 0.1];
  const teacher = [1.1, 0.2, -0.5, 0.4];

  it.each(divergences)("have its gradient on average: %j", (divergence, term) => {
    const t = softmax(teacher);
    const valueAt = (logits: readonly number[]): number =>
      softmax(logits).reduce((sum, s, i) => sum + term(s, t[i]!), 0);
    const s = softmax(policy);
    const advantages = s.map((p, i) => divergenceAdvantage(Math.log(t[i]! / p), divergence));
    for (const k of policy.keys()) {
      const moved = (by: number) => policy.map((x, i) => x + (i === k ? by : 0));
      const numeric = (valueAt(moved(1e-5)) - valueAt(moved(-1e-5))) / 2e-5;
      // E[A d log p / d logit k], which is that of what falls.
      const estimated = s.reduce(
        (sum, p, i) => sum + p * advantages[i]! * ((i === k ? 1 : 0) - s[k]!),
        0,
      );
      expect(-estimated).toBeCloseTo(numeric, 8);
    }
  });

  it.each(divergences)("are 0 where both agree: %j", (divergence) => {
    expect(Math.abs(divergenceAdvantage(0, divergence))).toBeLessThan(1e-15);
  });
});

const overrides = ["model.name=m", "distillation.teacher=self", "distillation.hint=answer"];
const question: ChatMessage[] = [{ role: "user", content: "How much do 2 cups cost?" }];

describe("distillation.teacher=self", () => {
  it("scores by the policy with the hint in its prompt", async () => {
    await using backend = createLocalBackend({ threads: 1, precision: "f32" });
    const { signal } = new AbortController();
    const lora = { rank: 4, alpha: 8 };
    const model = { name: "builtin:shop-tiny", lora };
    const { renderer } = (await backend.start({ seed: 1, model, signal })) as SamplerTarget;
    const promptIds = renderer.render(question).tokens;
    const responseIds = renderer.encode!("22");
    const logprobs = new Float32Array(responseIds.length).fill(-1);
    const step = makeStep({ messages: question, promptIds, responseIds, logprobs });
    const made = {
      ...episode({ made: [step] }),
      trajectories: episode({ made: [step] }).trajectories,
    };
    const given = { ...made, task: { ...made.task, metadata: { answer: 22 } } };
    const { config } = loadConfig({ overrides });
    const hint = await loadHint(config, ".");
    const { rows, metrics } = await rowsOf(config, backend, [given], renderer, hint);
    const asked = `${question[0]!.content as string}\n\nThe answer is 22`;
    const prompt = renderer.render([{ role: "user", content: asked }]).tokens;
    const tokens = Int32Array.of(...prompt, ...responseIds);
    const separate: TrainingRow = {
      ...rows[0]!,
      tokens,
      targetMask: Uint8Array.from(tokens, (_, i) => (i < prompt.length ? 0 : 1)),
      samplingLogprobs: new Float32Array(tokens.length),
      advantages: new Float32Array(tokens.length),
    };
    const [expected] = await backend.forward([separate], "current");
    for (const i of responseIds.keys()) {
      const advantage = rows[0]!.advantages[promptIds.length + i]!;
      expect(Math.abs(advantage - 1 - expected![prompt.length + i]!)).toBeLessThan(1e-5);
    }
    expect(metrics["distillation/unhinted_rows"]).toBe(0);
  });

  it("teaches nothing where there is no hint", async () => {
    await using backend = createLocalBackend({ threads: 1 });
    const { signal } = new AbortController();
    const model = { name: "builtin:shop-tiny", lora: { rank: 4, alpha: 8 } };
    const { renderer } = (await backend.start({ seed: 1, model, signal })) as SamplerTarget;
    const promptIds = renderer.render(question).tokens;
    const step = makeStep({
      messages: question,
      promptIds,
      responseIds: renderer.encode!("2"),
      logprobs: Float32Array.of(-1),
    });
    const { config } = loadConfig({ overrides });
    const hint = await loadHint(config, ".");
    const { rows, metrics } = await rowsOf(
      config,
      backend,
      [episode({ made: [step] })],
      renderer,
      hint,
    );
    expect(rows[0]!.advantages.every((value) => value === 0)).toBe(true);
    expect(metrics["distillation/unhinted_rows"]).toBe(1);
  });

  it("needs a hint", () => {
    const load = (...more: string[]) =>
      loadConfig({ overrides: ["model.name=m", "distillation.teacher=self", ...more] });
    expect(() => load()).toThrow("distillation.teacher=self without distillation.hint");
  });
});
