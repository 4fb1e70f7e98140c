import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../util/random.ts";
import type { ResponseChunk, ResponsePart } from "../adapters/response-part.ts";
import { ResponseCollector } from "../response-collector.ts";
import { ChunkMerger } from "./merge-chunks.ts";

interface Collected {
  readonly error: string | undefined;
  readonly shown: readonly string[];
  readonly state: unknown;
}

/** Everything that a collector knows in the end, and what it let through. */
function collect(batches: readonly (readonly ResponseChunk[])[]): Collected {
  const collector = new ResponseCollector("w", 2);
  const shown = ["", ""];
  let error: string | undefined;
  try {
    for (const chunk of batches.flat()) {
      collector.add(chunk, ({ choice, content = "", reasoning = "" }) => {
        if (reasoning !== "") shown[choice] += `<${[...reasoning].join("><")}>`;
        shown[choice] += content;
      });
    }
  } catch (caught) {
    error = (caught as Error).message;
  }
  const choices = collector.choices.map((choice) => ({
    tokens: choice.tokens,
    logprobs: choice.logprobs,
    texts: choice.texts,
    content: choice.content,
    reasoning: choice.reasoning,
    stopString: choice.stopString,
    missing: [choice.missingIds, choice.missingLogprobs, choice.missingTokens],
    toolCalls: choice.toolCalls,
    stopReason: choice.stopReason,
  }));
  const { promptIds, usage } = collector;
  return { error, shown, state: { promptIds, usage, doubt: collector.doubt(), choices } };
}

function merged(batches: readonly (readonly ResponseChunk[])[]): (readonly ResponseChunk[])[] {
  const merger = new ChunkMerger();
  return batches.map((batch) => merger.merge(batch));
}

const part = (id: number, fields: Partial<ResponsePart> = {}): ResponsePart => ({
  choice: 0,
  tokens: [id],
  logprobs: [-id],
  content: `${id} `,
  ...fields,
});

describe("ChunkMerger", () => {
  it("makes one chunk of those that continue each other", () => {
    const batch = [
      { promptIds: [1, 2], parts: [{ choice: 0, content: "" }] },
      ...[5, 6, 7].map((id, i) => ({ parts: [part(id, { sampled: i + 1 })] })),
      { parts: [], usage: { promptTokens: 2, completionTokens: 3 } },
    ];
    expect(new ChunkMerger().merge(batch)).toEqual([
      {
        promptIds: [1, 2],
        usage: { promptTokens: 2, completionTokens: 3 },
        parts: [
          { choice: 0, tokens: [5, 6, 7], logprobs: [-5, -6, -7], sampled: 3, content: "5 6 7 " },
        ],
      },
    ]);
  });

  it("keeps reasoning that comes after content behind it", () => {
    const batch = [
      { parts: [{ choice: 0, reasoning: "a" }] },
      { parts: [{ choice: 0, content: "b" }] },
      { parts: [{ choice: 0, reasoning: "c" }] },
    ];
    expect(new ChunkMerger().merge(batch).map(({ parts }) => parts)).toEqual([
      [{ choice: 0, reasoning: "a", content: "b" }],
      [{ choice: 0, reasoning: "c" }],
    ]);
  });

  it("leaves chunks as they are from a repeated token on", () => {
    const merger = new ChunkMerger();
    const first = [5, 6].map((id, i) => ({ parts: [part(id, { sampled: i + 1 })] }));
    expect(merger.merge(first)).toHaveLength(1);
    const repeated = [6, 7].map((id, i) => ({ parts: [part(id, { sampled: i + 2 })] }));
    expect(merger.merge(repeated)).toEqual(repeated);
  });

  it("changes nothing of what is collected, however a server repeats, omits and mixes", () => {
    const random = createRandom(3);
    const maybe = <T>(share: number, value: T): T | undefined =>
      random() < share ? value : undefined;
    for (let round = 0; round < 400; round++) {
      let known = 0;
      const faults = round % 3 === 0 ? 0.15 : 0;
      const isCounted = random() < 0.6;
      const make = (): ResponseChunk => {
        const size = Math.floor(random() * 3);
        const isFault = random() < faults;
        known += isFault ? Math.floor(random() * 3) - 1 : size;
        const tokens = Array.from({ length: size }, () => Math.floor(random() * 4));
        const length = random() < faults ? 1 : size;
        const fields = {
          tokens: maybe(0.95, tokens),
          logprobs: maybe(
            0.9,
            Array.from({ length }, () => (random() < 0.1 ? null : -random())),
          ),
          texts: maybe(
            0.2,
            tokens.map((id) => ({ text: `${id}`, topLogprobs: [] })),
          ),
          sampled: isCounted ? Math.max(1, known) : undefined,
          content: maybe(0.7, `c${size}`),
          reasoning: maybe(0.2, `r${size}`),
          toolCalls: maybe(0.1, [{ index: size, id: "x", name: "f", arguments: "{" }]),
          finish: maybe(0.05, random() < 0.1 ? "abort" : "stop"),
          stopString: maybe(0.05, "END"),
        };
        const present = Object.entries(fields).filter(([, value]) => value !== undefined);
        const choice = isCounted ? 0 : Math.floor(random() * 2);
        return {
          ...(random() < 0.2 ? { promptIds: [known] } : {}),
          ...(random() < 0.3 ? { usage: { promptTokens: 3, completionTokens: known } } : {}),
          parts: random() < 0.1 ? [] : [{ choice, ...Object.fromEntries(present) }],
        };
      };
      const batches = Array.from({ length: 4 }, () =>
        Array.from({ length: Math.floor(random() * 6) }, make),
      );
      const expected = collect(batches);
      const actual = collect(merged(batches));
      if (expected.error === undefined) expect(actual).toEqual(expected);
      else expect(actual.error).toBe(expected.error);
    }
  });
});
