/**
 * A policy with one weight, for a server of the Fireworks API that computes nothing else: it says "y" with
 * probability sigmoid(weight), else "n", and ends. Plain gradient steps.
 */

export const yes = 121;
export const no = 110;
export const end = 509;

/** log p of a token in its place; all but the first one of a response are certain. */
export function logprobOf(token: number, weight: number): number {
  if (token !== yes && token !== no) return 0;
  return -Math.log1p(Math.exp(token === yes ? -weight : weight));
}

/** d log p / d weight */
function gradientOf(token: number, weight: number): number {
  const p = 1 / (1 + Math.exp(-weight));
  if (token === yes) return 1 - p;
  return token === no ? -p : 0;
}

export interface WireTensor {
  readonly data: readonly number[];
  readonly dtype: string;
  readonly shape: readonly number[];
}

export interface WireDatum {
  readonly model_input: { readonly chunks: readonly { readonly tokens: readonly number[] }[] };
  readonly loss_fn_inputs: Readonly<Record<string, WireTensor>>;
}

export interface Pass {
  readonly logprobs: readonly number[];
  readonly loss: number;
  /** Of the negative loss: where to go. */
  readonly ascent: number;
}

/** The losses by their formulas, summed over tokens. */
export function passOver(
  { loss_fn_inputs: inputs }: WireDatum,
  lossFn: string,
  config: Readonly<Record<string, number>>,
  weight: number,
): Pass {
  const targets = inputs["target_tokens"]!.data;
  const logprobs = targets.map((token) => logprobOf(token, weight));
  let loss = 0;
  let ascent = 0;
  for (const [i, token] of targets.entries()) {
    const slope = gradientOf(token, weight);
    if (lossFn === "cross_entropy") {
      const w = inputs["weights"]?.data[i] ?? 1;
      loss -= w * logprobs[i]!;
      ascent += w * slope;
      continue;
    }
    const advantage = inputs["advantages"]!.data[i]!;
    const ratio = Math.exp(logprobs[i]! - inputs["logprobs"]!.data[i]!);
    const { clip_low_threshold: low = 0, clip_high_threshold: high = Infinity } = config;
    const clipped = Math.min(Math.max(ratio, low), high);
    if (lossFn === "cispo") {
      loss -= clipped * advantage * logprobs[i]!;
      ascent += clipped * advantage * slope;
    } else if (lossFn === "ppo" && clipped * advantage < ratio * advantage) {
      loss -= clipped * advantage;
    } else {
      loss -= ratio * advantage;
      ascent += ratio * advantage * slope;
    }
  }
  return { logprobs, loss, ascent };
}
