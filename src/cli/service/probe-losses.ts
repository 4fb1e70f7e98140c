/** Losses of a Tinker server against their formulas: sums or means, bounds, weights. */
import { rowLossOf } from "../../core/loss/row-losses.ts";
import { defaultLoss, type LossName } from "../../core/loss/loss.ts";
import {
  type Answer,
  differs,
  no,
  type Probe,
  type ProbeContext,
  short,
  unknown,
  yes,
} from "./finding.ts";
import {
  currentLogprobs,
  datumOf,
  each,
  hasSum,
  isNear,
  probeLength,
  reportedLoss,
} from "./probe-data.ts";

/** Ratios on both sides of the bounds, advantages of both signs. */
const shifts = each((i) => 0.35 * Math.sin(1 + 2 * i));
const advantages = each((i) => (i % 2 === 0 ? 1 : -0.6));
const bounds = { low: 0.85, high: 1.1 };

const configs: Readonly<Partial<Record<LossName, Readonly<Record<string, number>>>>> = {
  ppo: { clip_low_threshold: bounds.low, clip_high_threshold: bounds.high },
  cispo: { clip_low_threshold: bounds.low, clip_high_threshold: bounds.high },
  gspo: { clip_low_threshold: bounds.low, clip_high_threshold: bounds.high },
  dro: { beta: 0.3 },
};

const unclipped = { epsClip: 1, epsClipHigh: 1e6 };
const asSent = { epsClip: 1 - bounds.low, epsClipHigh: bounds.high - 1 };
/** What servers have been seen to clip at, whatever is sent. */
const otherBounds: readonly (readonly [string, typeof asSent])[] = [
  ["its own bounds of 0.8 and 1.2", { epsClip: 0.2, epsClipHigh: 0.2 }],
  ["its own bounds of 0 and 4", { epsClip: 1, epsClipHigh: 3 }],
  ["no bounds", unclipped],
];

function expectedLoss(name: LossName, now: readonly number[], clip: typeof asSent): number {
  const { terms } = rowLossOf(name, { ...defaultLoss, ...clip, droBeta: 0.3 })({
    role: "agent",
    logprobs: Float64Array.from(now),
    samplingLogprobs: Float64Array.from(now, (l, i) => l - shifts[i]!),
    advantages: Float64Array.from(advantages),
    weights: new Float64Array(probeLength).fill(1),
  });
  return terms.reduce((sum, term) => sum + term, 0);
}

async function askLoss({ model, signal }: ProbeContext, name: LossName): Promise<Answer> {
  const now = await currentLogprobs(model, signal);
  if (now === null) return unknown("a forward pass returns no log-probabilities");
  const datum = datumOf({
    logprobs: now.map((l, i) => l - shifts[i]!),
    advantages,
    ...(name === "gspo" ? { sequence_ratio_mask: each(() => 1) } : {}),
  });
  const found = reportedLoss(await model.forward([datum], name, configs[name], { signal }));
  if (found === null) return unknown("computed, but the server reports no loss to compare");
  const expected = expectedLoss(name, now, asSent);
  if (isNear(found, expected)) return yes(`as its formula: ${short(found)}`);
  const clips = configs[name]?.["clip_low_threshold"] !== undefined;
  for (const [what, clip] of clips ? otherBounds : [])
    if (isNear(found, expectedLoss(name, now, clip)))
      return differs(`clips at ${what}, though ${bounds.low} and ${bounds.high} were sent`);
  if (isNear(found, expected / probeLength)) return differs("the mean over tokens, not their sum");
  return differs(`${short(found)}, and its formula gives ${short(expected)}`);
}

/** Two sequences with weights that tell every mean from every other. */
async function askReduction({ model, signal }: ProbeContext): Promise<Answer> {
  const weights = each((i) => (i < 3 ? 0.5 : 0.25));
  const one = datumOf({ weights });
  const output = await model.forward([one, one], "cross_entropy", {}, { signal });
  const now = await currentLogprobs(model, signal);
  const found = reportedLoss(output);
  if (now === null || found === null) return unknown("the server reports no loss to compare");
  const sum = -2 * weights.reduce((total, w, i) => total + w * now[i]!, 0);
  const weight = 2 * weights.reduce((total, w) => total + w, 0);
  const means: readonly (readonly [string, number])[] = [
    ["divided by the number of sequences", sum / 2],
    ["divided by the number of tokens", sum / (2 * probeLength)],
    ["divided by the sum of the weights", sum / weight],
    ["each sequence divided by the sum of its weights", (2 * sum) / weight],
  ];
  if (isNear(found, sum))
    return hasSum(output)
      ? yes("the sum over tokens and sequences")
      : unknown("losses of tokens are returned, and no sum; see the gradients below");
  const mean = means.find(([, value]) => isNear(found, value));
  if (mean !== undefined) return differs(mean[0]);
  if (isNear(found, -2 * now.reduce((total, l) => total + l, 0))) return no("weights are ignored");
  return differs(`${short(found)}, and the sum is ${short(sum)}`);
}

async function askWeights({ model, signal }: ProbeContext): Promise<Answer> {
  const now = await currentLogprobs(model, signal);
  if (now === null) return unknown("a forward pass returns no log-probabilities");
  const weights = each((i) => (i === 0 ? 1 : 0));
  const datum = datumOf({ logprobs: now, advantages: each(() => 1), weights });
  const output = await model.forward([datum], "importance_sampling", {}, { signal });
  const found = reportedLoss(output);
  if (found === null) return unknown("the server reports no loss to compare");
  if (isNear(found, -1)) return yes("weights multiply the losses of tokens");
  if (isNear(found, -probeLength)) return no("weights are ignored: every token counts 1");
  return differs(`${short(found)}, and the weighted sum is -1`);
}

const policyLosses = ["importance_sampling", "ppo", "cispo", "dro", "gspo"] as const;

export const lossProbes: readonly Probe[] = [
  { topic: "losses", name: "cross_entropy", ask: askReduction },
  ...policyLosses.map((name): Probe => ({
    topic: "losses",
    name,
    ask: (context) => askLoss(context, name),
  })),
  { topic: "losses", name: "weights with policy losses", ask: askWeights },
];
