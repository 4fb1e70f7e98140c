/** How a Tinker server samples: what it takes into account, and which log-probabilities it returns. */
import type { SamplingClient, TinkerSampleOptions } from "../../tinker-api/sampling-client.ts";
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
import { currentLogprobs, probeTokens } from "./probe-data.ts";

type Ask = (sampler: SamplingClient, signal: AbortSignal) => Promise<Answer>;

const prompt = probeTokens;
const maxTokens = 6;
/** Of a distribution in 16 bits, nats. */
const rounding = 0.1;

async function tokensOf(
  sampler: SamplingClient,
  options: Partial<TinkerSampleOptions>,
): Promise<Int32Array> {
  const { sequences } = await sampler.sample(prompt, { maxTokens, stop: [], seed: 1, ...options });
  return sequences[0]?.tokens ?? new Int32Array(0);
}

const isSame = (a: Int32Array, b: Int32Array): boolean => a.join() === b.join();

/** Whether what should leave one token to choose does, whatever the seed. */
async function isGreedy(sampler: SamplingClient, options: Partial<TinkerSampleOptions>) {
  const greedy = await tokensOf(sampler, { temperature: 0, ...options, seed: 1 });
  for (const seed of [2, 3, 4, 5])
    if (!isSame(await tokensOf(sampler, { ...options, seed }), greedy)) return false;
  return true;
}

const askGreedy =
  (options: Partial<TinkerSampleOptions>): Ask =>
  async (sampler, signal) => {
    if (!(await isGreedy(sampler, { ...options, signal })))
      return no("ignored: seeds still matter");
    return (await isGreedy(sampler, { signal, temperature: 1 }))
      ? unknown("this model samples the same tokens without it")
      : yes("leaves the most likely tokens");
  };

const askSeed: Ask = async (sampler, signal) => {
  const first = await tokensOf(sampler, { signal, seed: 11 });
  if (!isSame(await tokensOf(sampler, { signal, seed: 11 }), first))
    return no("ignored: one seed gives other tokens each time");
  for (const seed of [12, 13, 14, 15])
    if (!isSame(await tokensOf(sampler, { signal, seed }), first))
      return yes("one seed gives the same tokens, another seed others");
  return differs("every seed gives the same tokens");
};

const askLargeSeed: Ask = async (sampler, signal) => {
  await tokensOf(sampler, { signal, seed: 2 ** 32 - 1 });
  return yes("accepted");
};

const askLimit: Ask = async (sampler, signal) => {
  const { sequences } = await sampler.sample(prompt, { maxTokens: 3, stop: [], seed: 1, signal });
  const [first] = sequences;
  if (first === undefined) return no("no sequence came back");
  const { tokens, stopReason } = first;
  if (tokens.length > 3) return no(`${tokens.length} tokens came back for 3`);
  return tokens.length === 3
    ? yes(`ends with ${stopReason}`)
    : differs(`${tokens.length} tokens for 3`);
};

const askMany: Ask = async (sampler, signal) => {
  const { sequences } = await sampler.sample(prompt, {
    n: 3,
    maxTokens,
    stop: [],
    seed: 1,
    signal,
  });
  if (sequences.length !== 3) return no(`${sequences.length} sequences came back for 3`);
  const kinds = new Set(sequences.map(({ tokens }) => tokens.join())).size;
  return kinds > 1 ? yes("several sequences") : differs("three times the same sequence");
};

const askStopToken: Ask = async (sampler, signal) => {
  const free = await tokensOf(sampler, { temperature: 0, signal });
  const stop = free[2];
  if (stop === undefined) return unknown("sampling ended before its third token");
  const cut = await tokensOf(sampler, { temperature: 0, stop: [stop], signal });
  const at = free.indexOf(stop);
  if (cut.length === at + 1) return yes("ends the sequence, and belongs to it");
  if (cut.length === at) return differs("ends the sequence, and is left out");
  return no("ignored");
};

const askStopText: Ask = async (sampler, signal) => {
  await tokensOf(sampler, { stop: ["\n\n"], signal });
  return yes("accepted");
};

const askPromptLogprobs: Ask = async (sampler, signal) => {
  const wanted = { maxTokens: 1, promptLogprobs: true, signal } as const;
  const { promptLogprobs } = await sampler.sample(prompt, wanted);
  if (promptLogprobs === null) return no("not returned");
  return yes(`${promptLogprobs.length} for ${prompt.length} tokens`);
};

const askTopLogprobs: Ask = async (sampler, signal) => {
  const wanted = { maxTokens: 1, topPromptLogprobs: 2, signal } as const;
  const { topPromptTokens } = await sampler.sample(prompt, wanted);
  return topPromptTokens === null ? no("not returned") : yes("returned");
};

/** How far the log-probabilities of a sample are from those of the same tokens as a prompt. */
async function logprobDistance(sampler: SamplingClient, temperature: number, signal: AbortSignal) {
  const { sequences } = await sampler.sample(prompt, {
    maxTokens,
    temperature,
    stop: [],
    seed: 3,
    signal,
  });
  const [first] = sequences;
  if (first?.logprobs?.length !== first?.tokens.length || first === undefined) return null;
  const all = Int32Array.of(...prompt, ...first.tokens);
  const scores = await sampler.computeLogprobs(all, { signal });
  return distance(first.logprobs!, scores.slice(prompt.length));
}

const askLogprobs: Ask = async (sampler, signal) => {
  const found = await logprobDistance(sampler, 1, signal);
  if (found === null) return no("not returned");
  const detail = `${short(found)} nats from those of a prompt`;
  return found <= rounding ? yes(detail) : differs(detail);
};

const askTempered: Ask = async (sampler, signal) => {
  const found = await logprobDistance(sampler, 2, signal);
  if (found === null) return no("not returned");
  return found <= rounding
    ? differs("those at temperature 1, whatever the temperature")
    : yes("those of the tempered distribution");
};

/** Sampling and training compute the same policy. */
async function askAgreement(context: ProbeContext): Promise<Answer> {
  const { model, signal } = context;
  const sampler = await model.createSampler({ signal });
  const scores = await sampler.computeLogprobs(prompt, { signal });
  const trained = await currentLogprobs(model, signal);
  if (trained === null) return unknown("a forward pass returns no log-probabilities");
  const found = distance(scores.slice(1), trained);
  const detail = `${short(found)} nats apart`;
  return found <= rounding ? yes(detail) : differs(detail);
}

const asks: readonly (readonly [string, Ask])[] = [
  ["max_tokens", askLimit],
  ["num_samples", askMany],
  ["seed", askSeed],
  ["seed of 32 bits", askLargeSeed],
  ["temperature 0", askGreedy({ temperature: 0 })],
  ["top_k 1", askGreedy({ topK: 1 })],
  ["top_p 1e-6", askGreedy({ topP: 1e-6 })],
  ["stop tokens", askStopToken],
  ["stop strings", askStopText],
  ["log-probabilities", askLogprobs],
  ["log-probabilities at temperature 2", askTempered],
  ["prompt_logprobs", askPromptLogprobs],
  ["topk_prompt_logprobs", askTopLogprobs],
];

export const samplingProbes: readonly Probe[] = [
  ...asks.map(([name, askIt]): Probe => ({
    topic: "sampling",
    name,
    ask: async ({ client, baseModel, signal }) =>
      askIt(await client.createSampler({ baseModel }, { signal }), signal),
  })),
  { topic: "sampling", name: "policy of sampling and training", ask: askAgreement },
];
