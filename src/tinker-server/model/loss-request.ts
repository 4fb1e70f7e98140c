/** Tinker's losses: which tensors each needs, its options, and the engine's loss that it is. */
import { defaultLoss, type LossName, type LossSpec } from "../../core/loss/loss.ts";
import type { Datum, ForwardBackwardRequest } from "../../tinker-api/messages.ts";
import { RequestError } from "../request-error.ts";
import { defined } from "../../util/defined.ts";
import type { LossRow } from "./datum-batch.ts";

interface TinkerLoss {
  /** The engine's loss, where it has another name; with what cannot be set. */
  readonly engine?: Pick<LossSpec, "name" | "epsClip" | "epsClipHigh">;
  /** Whether a datum must say which of its targets were sampled. @default false */
  readonly needsProvenance?: boolean;
  readonly required: readonly string[];
  /** Options with their defaults; thresholds are bounds of the ratio itself. */
  readonly options: Readonly<Record<string, number>>;
}

const policyInputs = ["target_tokens", "logprobs", "advantages"];
/** Marks the tokens over which a sequence's ratio is taken. */
const ratioMask = "sequence_ratio_mask";
const clip = { clip_low_threshold: 0.8, clip_high_threshold: 1.2 };

/**
 * What Tinker computes for it is not published. Here it is REINFORCE with V-trace's truncated weight,
 * -sg(min(r, 1)) A l (arXiv:1802.01561, its bound 1): a stale token never counts more than a fresh one.
 */
const stableReinforce = { name: "cispo", epsClip: 1, epsClipHigh: 0 } as const;

const losses: Readonly<Partial<Record<LossName | "stable_reinforce", TinkerLoss>>> = {
  cross_entropy: { required: ["target_tokens"], options: {} },
  importance_sampling: { required: policyInputs, options: {} },
  ppo: { required: policyInputs, options: clip },
  cispo: {
    required: policyInputs,
    options: { clip_low_threshold: 0, clip_high_threshold: 4 },
  },
  dro: { required: policyInputs, options: { beta: 0.05 } },
  gspo: {
    required: [...policyInputs, ratioMask],
    // The paper's: a ratio of whole sequences is much closer to 1 than one of tokens.
    options: { clip_low_threshold: 1 - 3e-4, clip_high_threshold: 1 + 4e-4 },
  },
  stable_reinforce: {
    required: policyInputs,
    options: {},
    engine: stableReinforce,
    needsProvenance: true,
  },
};

export interface LossRequest {
  readonly loss: LossSpec;
  readonly rows: readonly LossRow[];
}

export interface ModelLimits {
  readonly vocabularySize: number;
  readonly contextLength: number;
}

/**
 * @param unread tensors that a datum may have though the loss does not read them.
 * @throws RequestError saying what is wrong with which datum.
 */
export function readLossRequest(
  request: ForwardBackwardRequest,
  limits: ModelLimits,
  unread: readonly string[] = [],
): LossRequest {
  const known = Object.hasOwn(losses, request.lossFn)
    ? losses[request.lossFn as keyof typeof losses]
    : null;
  if (!known) {
    const names = Object.keys(losses).join(", ");
    throw new RequestError(422, `There is no loss "${request.lossFn}". There are: ${names}.`);
  }
  if (request.data.length === 0) throw new RequestError(400, "There is no datum to train on.");
  return {
    loss: lossSpec(request.lossFn, known, request.lossConfig),
    rows: request.data.map((datum, index) =>
      readDatum(withoutUnread(datum, unread, known), index, known, limits),
    ),
  };
}

function withoutUnread(datum: Datum, unread: readonly string[], { required }: TinkerLoss): Datum {
  const isRead = (name: string): boolean => required.includes(name) || !unread.includes(name);
  const lossInputs = Object.entries(datum.lossInputs).filter(([name]) => isRead(name));
  return { ...datum, lossInputs: Object.fromEntries(lossInputs) };
}

function lossSpec(
  name: string,
  known: TinkerLoss,
  config: Readonly<Record<string, number>>,
): LossSpec {
  for (const [option, value] of Object.entries(config)) {
    if (!(option in known.options)) {
      const allowed = Object.keys(known.options).join(", ") || "none";
      throw new RequestError(422, `${name} has no option "${option}". It has: ${allowed}.`);
    }
    const lowest = option === "beta" ? 1e-6 : 0;
    if (!(value >= lowest) || value > 1e6)
      throw new RequestError(422, `${option} is ${value}, but must be from ${lowest} to 1e6.`);
  }
  const options = { ...known.options, ...config };
  const { clip_low_threshold: low = 0.8, clip_high_threshold: high = 1.2, beta } = options;
  if (low > 1 || high < 1)
    throw new RequestError(422, `${name} clips ratios to [${low}, ${high}], which excludes 1.`);
  return {
    ...defaultLoss,
    aggregation: "token-sum",
    ...(known.engine ?? { name: name as LossName, epsClip: 1 - low, epsClipHigh: high - 1 }),
    ...defined({ droBeta: beta }),
  };
}

/** What is wrong with where the targets came from; null where nothing is. */
function provenanceProblem(
  { targetSpans = [], tokens }: Datum,
  advantages: Float32Array,
): string | null {
  if (targetSpans.length === 0)
    return "it does not say where its targets came from, which stable_reinforce needs: Datum.with_provenance.";
  let at = 0;
  for (const { isSampled, length } of targetSpans) {
    const stray = isSampled ? -1 : advantages.subarray(at, at + length).findIndex((a) => a !== 0);
    if (stray !== -1) return `position ${at + stray} has an advantage, but was not sampled.`;
    at += length;
  }
  return at === tokens.length ? null : `its provenance covers ${at} of ${tokens.length} positions.`;
}

function readDatum(
  datum: Datum,
  index: number,
  { required, needsProvenance = false }: TinkerLoss,
  limits: ModelLimits,
): LossRow {
  const refuse = (what: string): never => {
    throw new RequestError(400, `Datum ${index}: ${what}`);
  };
  const { tokens, lossInputs } = datum;
  if (tokens.length === 0) refuse("it has no tokens.");
  if (tokens.length > limits.contextLength)
    refuse(`${tokens.length} tokens exceed the context window of ${limits.contextLength}.`);
  for (const [name, { data, shape }] of Object.entries(lossInputs)) {
    if (![...required, "weights"].includes(name))
      refuse(`this loss does not know "${name}"; it reads ${required.join(", ")}, weights.`);
    if (data.length !== tokens.length || shape.length !== 1)
      refuse(`"${name}" has shape [${shape.join()}], but there are ${tokens.length} tokens.`);
    if (data.some((value) => !Number.isFinite(value)))
      refuse(`NonFiniteInTensor: "${name}" has a number that is not finite.`);
  }
  const read = (name: string, fallback: number): Float32Array => {
    const tensor = lossInputs[name];
    if (tensor !== undefined) return Float32Array.from(tensor.data);
    if (required.includes(name)) refuse(`"${name}" is missing.`);
    return new Float32Array(tokens.length).fill(fallback);
  };
  const { target_tokens: targetTokens } = lossInputs;
  if (targetTokens?.dtype !== "int64") return refuse(`"target_tokens" must be int64.`);
  for (const ids of [tokens, targetTokens.data]) {
    const stray = ids.find((id) => id < 0 || id >= limits.vocabularySize);
    if (stray !== undefined)
      refuse(`token ${stray} is outside of the vocabulary of ${limits.vocabularySize}.`);
  }
  const advantages = read("advantages", 0);
  if (needsProvenance) {
    const problem = provenanceProblem(datum, advantages);
    if (problem !== null) refuse(problem);
  }
  const ratioTokens = read(ratioMask, 1);
  if (required.includes(ratioMask)) {
    const stray = advantages.findIndex((value, i) => value !== 0 && ratioTokens[i] === 0);
    if (stray >= 0) refuse(`position ${stray} has an advantage, but is outside of "${ratioMask}".`);
  }
  return {
    tokens,
    targets: targetTokens.data,
    // Without them every position counts, that of the prompt, too.
    weights: read("weights", 1),
    advantages,
    samplingLogprobs: read("logprobs", 0),
    ratioTokens,
  };
}
