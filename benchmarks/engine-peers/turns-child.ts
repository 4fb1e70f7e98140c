/** Our side of a comparison: an engine that makes one training or sampling turn when it is told to. */
import { createInterface } from "node:readline";
import { defaultLoss, defaultOptim } from "../../src/core/loss/loss.ts";
import { defaultSampling } from "../../src/core/policy.ts";
import type { PolicyEngine } from "../../src/engine/policy-engine.ts";
import { createRandom } from "../../src/util/random.ts";
import { openEngine } from "../engine/open-engine.ts";
import { denseRows, makeRows } from "../engine/rows.ts";
import { peakMiB } from "../harness/child-side.ts";
import type { ModelCase } from "../engine/models.ts";
import { matmulPeak } from "./matmul-peak.ts";
import type { OpenRequest, SampleTurn, TrainTurn } from "./turn.ts";

let engine: PolicyEngine;
let vocabSize: number;
const random = createRandom(1);

const work = {
  async open({ model }: { model: ModelCase }) {
    engine = await openEngine(model);
    vocabSize = model.vocabSize;
    return {};
  },
  async train({ rows, tokens }: Omit<TrainTurn, "do">) {
    const batch = makeRows(denseRows(rows, tokens), vocabSize);
    const start = performance.now();
    await engine.forwardBackward(batch, defaultLoss);
    await engine.optimStep({ ...defaultOptim, learningRate: 1e-6 });
    return { seconds: (performance.now() - start) / 1000 };
  },
  async sample({ batch, promptTokens, newTokens }: Omit<SampleTurn, "do">) {
    const params = { ...defaultSampling, maxTokens: newTokens, stopTokenIds: [] };
    // Prompts are new each time: a cached one would cost nothing.
    const prompts = Array.from({ length: batch }, () =>
      Int32Array.from({ length: promptTokens }, () => Math.floor(random() * vocabSize)),
    );
    const start = performance.now();
    await Promise.all(
      prompts.map((tokens, seed) => engine.sample({ tokens, params: { ...params, seed } })),
    );
    return { seconds: (performance.now() - start) / 1000 };
  },
  matmulPeak,
};

type Request = (OpenRequest & { model: ModelCase }) | TrainTurn | SampleTurn | { do: "matmulPeak" };

for await (const line of createInterface({ input: process.stdin })) {
  const { do: name, ...input } = JSON.parse(line) as Request;
  const answer = await (work[name] as (input: object) => Promise<object>)(input);
  process.stdout.write(`${JSON.stringify({ ...answer, peakMiB: peakMiB() })}\n`);
}
