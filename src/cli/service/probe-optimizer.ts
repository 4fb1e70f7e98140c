/** What an optimizer step of a Tinker server does: sums of gradients, AdamW's fields, clipping. */
import type { AdamParams } from "../../tinker-api/wire/model-client.ts";
import {
  type Answer,
  differs,
  distance,
  no,
  type Probe,
  type ProbeContext,
  short,
  unknown,
  yes,
} from "./finding.ts";
import { currentLogprobs, datumOf, each, isNear } from "./probe-data.ts";

const datum = datumOf({ weights: each(() => 1) });
/** Its gradient is smaller than the largest eps that servers take, and larger than the smallest. */
const faint = datumOf({ weights: each(() => 1e-4) });
const usual: AdamParams = { learningRate: 1e-3, beta1: 0, beta2: 0, eps: 1e-8 };
const still: AdamParams = { learningRate: 0 };

/** Gradients of as many batches with as many copies of the datum each, then one step. */
async function normOf(
  { model, signal }: ProbeContext,
  batches: number,
  copies: number,
  adam: AdamParams = still,
): Promise<number | null> {
  const data = Array.from({ length: copies }, () => datum);
  for (let batch = 0; batch < batches; batch++)
    await model.forwardBackward(data, "cross_entropy", {}, { signal });
  const metrics = await model.optimStep(adam, { signal });
  const found = Object.entries(metrics).find(([name]) => /grad.*norm/u.test(name))?.[1];
  return found ?? null;
}

/** How far one step moves the log-probabilities of the datum, in nats. */
async function movedBy({ model, signal }: ProbeContext, adam: AdamParams): Promise<number> {
  const before = (await currentLogprobs(model, signal)) ?? [];
  await model.forwardBackward([faint], "cross_entropy", {}, { signal });
  await model.optimStep(adam, { signal });
  return distance(before, (await currentLogprobs(model, signal)) ?? []);
}

const noNorm = unknown("the server reports no gradient norm");

async function askSum(context: ProbeContext, batches: number, copies: number): Promise<Answer> {
  const one = await normOf(context, 1, 1);
  const two = await normOf(context, batches, copies);
  if (one === null || two === null) return noNorm;
  const ratio = two / one;
  if (isNear(ratio, 2)) return yes("summed");
  if (isNear(ratio, 1)) return differs("averaged: twice the data gives the same gradient");
  return differs(`twice the data gives ${short(ratio)} times the gradient`);
}

/** A gradient much larger than eps moves weights by the rate; clipped to almost nothing, by almost nothing. */
async function askClipping(context: ProbeContext): Promise<Answer> {
  const adam = { ...usual, eps: 1e-6 };
  const clipped = await movedBy(context, { ...adam, gradClipNorm: 1e-12 });
  const free = await movedBy(context, adam);
  if (free === 0) return unknown("a step moved nothing");
  return clipped < free / 10
    ? yes(`a limit of 1e-12 moves ${short(clipped)} nats, none ${short(free)}`)
    : no(`ignored: a limit of 1e-12 moves ${short(clipped)} nats, none ${short(free)}`);
}

async function askField(
  context: ProbeContext,
  plain: AdamParams,
  changed: AdamParams,
): Promise<Answer> {
  const before = await movedBy(context, plain);
  const after = await movedBy(context, changed);
  if (before === 0) return unknown("a step moved nothing");
  return after < before / 3
    ? yes(`${short(after)} nats instead of ${short(before)}`)
    : no(`no effect: ${short(after)} nats, and without it ${short(before)}`);
}

async function askRate(context: ProbeContext): Promise<Answer> {
  const none = await movedBy(context, { learningRate: 0 });
  const some = await movedBy(context, { learningRate: 1e-3 });
  if (none < some / 10) return yes(`0 moves ${short(none)} nats, 1e-3 moves ${short(some)}`);
  return no(`0 moves ${short(none)} nats, 1e-3 moves ${short(some)}`);
}

async function askNorm(context: ProbeContext): Promise<Answer> {
  const norm = await normOf(context, 1, 1);
  return norm === null ? no("no gradient norm in the metrics of a step") : yes(short(norm));
}

/** Of a gradient that was applied, nothing is left for the next step. */
async function askCleared(context: ProbeContext): Promise<Answer> {
  const first = await normOf(context, 1, 1);
  const second = await normOf(context, 1, 1);
  if (first === null || second === null) return noNorm;
  return isNear(second / first, 1) ? yes("cleared by a step") : differs("kept after a step");
}

export const optimizerProbes: readonly Probe[] = [
  { topic: "optimizer", name: "grad_norm", ask: askNorm },
  { topic: "optimizer", name: "sequences of a batch", ask: (context) => askSum(context, 1, 2) },
  { topic: "optimizer", name: "batches of a step", ask: (context) => askSum(context, 2, 1) },
  { topic: "optimizer", name: "gradients after a step", ask: askCleared },
  { topic: "optimizer", name: "learning_rate", ask: askRate },
  {
    topic: "optimizer",
    name: "eps",
    ask: (context) => askField(context, usual, { ...usual, eps: 1 }),
  },
  { topic: "optimizer", name: "grad_clip_norm", ask: askClipping },
];
