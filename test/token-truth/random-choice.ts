/** Completions as no good model would write them: any ids, half characters, broken calls. Seeded. */
import type { Sample, SampleRequest, Sampler } from "../../src/core/policy.ts";
import type { TruthModel } from "./truth-models.ts";

export type Random = () => number;

export function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
}

const texts = [
  "Hello",
  " the answer is 42.",
  "\n\n",
  "END",
  "日本語",
  "👩‍👩‍👧",
  " é",
  "<think>\nhm\n</think>\n\n",
  "</think>",
  "<think>",
  '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich", "n": 1.0}}\n</tool_call>',
  '<tool_call>{"name": "now"}</tool_call>',
  '<tool_call>\n{"name": "get_weather", "arguments": {"city": ',
  "</tool_call>",
  "<tool_call>\n<function=now>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
  "<tool_call>\n<function=now>\n<parameter=a>\n",
  '{"name": "now", "parameters": {"a": [1, 2]}}',
  '{"name": "now", "parameters": ',
  '<|tool_call|>[{"name": "now", "arguments": {"a": 1}}]<|/tool_call|>',
  '<|tool_call|>[{"name": "now"',
  '[TOOL_CALLS][{"name": "now", "arguments": {"a": 1}}]',
  '[TOOL_CALLS] [{"name": "now", "arguments": ',
  "; ",
  "<|im_end|>",
  "<|eot_id|>",
  "<|im_start|>user\n",
];

/** What was drawn, by the prompt it was drawn for; what traces are held against. */
export interface SampleLog {
  readonly samples: Int32Array[];
}

/** Control tokens inside are ids of their own, as a model would draw them. */
function fragments(model: TruthModel): readonly (readonly number[])[] {
  const { tokenizer } = model;
  return texts.flatMap((text) => {
    const plainIds = tokenizer.encode(text);
    const { pattern, byText } = tokenizer.controls;
    if (pattern === null) return [plainIds];
    const stops = new Set(model.renderer.stop.tokenIds);
    const split: number[] = [];
    let at = 0;
    for (const match of text.matchAll(pattern)) {
      const id = byText.get(match[0])?.id ?? -1;
      split.push(...tokenizer.encode(text.slice(at, match.index)));
      if (!stops.has(id)) split.push(id);
      at = match.index + match[0].length;
    }
    split.push(...tokenizer.encode(text.slice(at)));
    return [plainIds, split];
  });
}

/** A sampler, and how it is told which conversation it draws for. */
export function randomSampler(model: TruthModel): Sampler & SampleLog & { random: Random } {
  const pieces = fragments(model);
  const [stop = -1] = model.renderer.stop.tokenIds;
  const stops = new Set(model.renderer.stop.tokenIds);

  function sample(random: Random, limit: number): { tokens: Int32Array; ended: boolean } {
    const ids: number[] = [];
    const kinds = Math.floor(random() * 5);
    for (let i = 0; i < kinds; i++) {
      const kind = random();
      if (kind < 0.5) ids.push(...pick(random, pieces));
      else if (kind < 0.6) ids.push(...pick(random, pieces).slice(0, -1));
      else if (kind < 0.7 && model.controls.length > 0) ids.push(pick(random, model.controls));
      else {
        const length = Math.floor(random() * 8);
        for (let k = 0; k < length; k++) {
          const id = Math.floor(random() * model.vocabulary);
          if (!stops.has(id)) ids.push(id);
        }
      }
    }
    // One in eight is cut short, and one in fifty nothing at all, as an aborting server gives.
    const cut = random() < 0.125;
    if (!cut) ids.push(stop);
    const tokens = Int32Array.from(ids.slice(0, limit));
    return { tokens, ended: !cut && tokens.length === ids.length };
  }

  const sampler = {
    contextLength: 65_536,
    samples: [] as Int32Array[],
    random: (() => 0) as Random,
    sample(request: SampleRequest): Promise<readonly Sample[]> {
      const samples = Array.from({ length: request.n ?? 1 }, (_, index): Sample => {
        const { tokens, ended } = sample(sampler.random, request.params.maxTokens);
        const logprobs = Float32Array.from(tokens, (id, i) => -((id * 31 + i) % 97) / 100);
        sampler.samples.push(tokens.slice());
        for (let i = 0; i < tokens.length && request.onChunk; i += 3) {
          const end = Math.min(i + 3, tokens.length);
          request.onChunk({
            index,
            tokens: tokens.subarray(i, end),
            logprobs: logprobs.subarray(i, end),
          });
        }
        return { tokens, logprobs, stopReason: ended ? "stop" : "length", weightVersion: 3 };
      });
      return Promise.resolve(samples);
    },
  };
  return sampler;
}
