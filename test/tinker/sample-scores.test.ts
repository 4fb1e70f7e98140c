/** What newer clients ask for with a sample: scores of chosen ids, other tokens, the most likely ones. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { groupBy } from "../../src/util/group-by.ts";
import { startServer, type LocalServer } from "./local-server.ts";
import { rawClient, type Json, type RawClient } from "./raw-client.ts";

let local: LocalServer;
let raw: RawClient;
beforeAll(async () => {
  local = await startServer();
  raw = rawClient(local.server);
});
afterAll(() => local[Symbol.asyncDispose]());

const prompt = [40, 41, 90, 17, 260];

interface Sampled {
  readonly sequences: readonly {
    tokens: number[];
    logprobs: number[];
    topk_sampled_logprobs?: [number, number][][];
  }[];
  readonly prompt_logprobs: (number | null)[];
  readonly target_prompt_logprobs: Json & { data: number[] };
  readonly prompt_alt_tokens: Record<"tokens" | "logprobs", { data: number[]; shape: number[] }>;
  readonly error?: string;
}

async function sample(options: Json, params: Json = {}): Promise<Sampled> {
  const response = await raw.post("asample", {
    base_model: "shop-tiny",
    prompt: { chunks: [{ type: "encoded_text", tokens: prompt }] },
    sampling_params: { max_tokens: 3, seed: 5, stop: [], ...params },
    ...options,
  });
  return (await raw.resultOf(response)) as unknown as Sampled;
}

it("scores the ids that target_prompt_logprobs names, dense and sparse", async () => {
  const next = prompt.slice(1);
  const data = next.flatMap((id, i) => [id, i === 1 ? -1 : 7]);
  const dense = await sample({
    prompt_logprobs: true,
    target_prompt_logprobs: { data, dtype: "int64", shape: [4, 2] },
  });
  const { data: scores } = dense.target_prompt_logprobs;
  expect(dense.target_prompt_logprobs["shape"]).toEqual([4, 2]);
  expect(dense.prompt_logprobs[0]).toBeNull();
  for (const [i, score] of dense.prompt_logprobs.slice(1).entries())
    expect(scores[2 * i]).toBeCloseTo(score!, 4);
  expect(scores[3]).toBe(0);
  const csr = { sparse_crow_indices: [0, 0, 1, 1, 2], sparse_col_indices: [4, 0] };
  const sparse = await sample({
    target_prompt_logprobs: { data: [7, 260], dtype: "int64", shape: [4, 5], ...csr },
  });
  expect(sparse.target_prompt_logprobs).toMatchObject({ shape: [4, 5], ...csr });
  const [seven, last] = sparse.target_prompt_logprobs.data;
  expect(last).toBeCloseTo(dense.prompt_logprobs[4]!, 4);
  const again = await sample({
    target_prompt_logprobs: { data: [-1, 7, -1, -1], dtype: "int64", shape: [4, 1] },
  });
  expect(again.target_prompt_logprobs.data[1]).toBe(seven);
});

it.each([
  [{ data: [1, 2], shape: [2, 1] }, /its shape is \[2,1\], but must be \[4, K\]/u],
  [{ data: [1, 2, 3, 4, 5], shape: [4, 1] }, /it has 5 ids/u],
  [{ data: [1, 2, 3, 99_999], shape: [4, 1] }, /token 99999 is outside of the vocabulary/u],
  [
    { data: [1], shape: [4, 1], sparse_crow_indices: [0, 1], sparse_col_indices: [0] },
    /sparse indices do not fit/u,
  ],
])("refuses targets %j", async (target, message) => {
  const refused = (await sample({
    target_prompt_logprobs: { dtype: "int64", ...target },
  })) as unknown;
  expect(JSON.stringify(refused)).toMatch(message);
});

it("samples other tokens for each position of the prompt, as often as they are likely", async () => {
  const k = 2_000;
  const { prompt_alt_tokens: others } = await sample({ prompt_alt_tokens_k: k });
  expect(others.tokens.shape).toEqual([4, k]);
  // At each position the share of its most frequent token is its probability, within 5 errors.
  for (let row = 0; row < 4; row++) {
    const ids = others.tokens.data.slice(row * k, (row + 1) * k);
    const counts = [...groupBy(ids.keys(), (i) => ids[i]!)];
    const [top, at] = counts.toSorted(([, a], [, b]) => b.length - a.length)[0]!;
    const p = Math.exp(others.logprobs.data[row * k + at[0]!]!);
    expect(Math.abs(at.length / k - p), `${row} ${top}`).toBeLessThan(
      5 * Math.sqrt((p * (1 - p)) / k) + 1e-4,
    );
  }
  const greedy = await sample(
    { prompt_alt_tokens_k: 2, prompt_logprobs: true },
    { temperature: 0 },
  );
  const { tokens, logprobs } = greedy.prompt_alt_tokens;
  for (let row = 0; row < 4; row++) {
    expect(tokens.data[2 * row]).toBe(tokens.data[2 * row + 1]);
    expect(logprobs.data[2 * row]).toBeGreaterThanOrEqual(greedy.prompt_logprobs[row + 1]! - 1e-4);
  }
});

it("gives the most likely tokens at each sampled one", async () => {
  const { sequences } = await sample({ num_samples: 2, topk_sample_logprobs: 512 });
  for (const { tokens, logprobs, topk_sampled_logprobs: top } of sequences) {
    expect(top).toHaveLength(tokens.length);
    for (const [i, row] of top!.entries()) {
      expect(new Map(row).get(tokens[i]!)).toBeCloseTo(logprobs[i]!, 4);
      expect(row.reduce((sum, [, logprob]) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 3);
      expect(row.map(([, logprob]) => logprob)).toEqual(
        row.map(([, logprob]) => logprob).toSorted((a, b) => b - a),
      );
    }
  }
});

it("makes more than 1,024 samples of one prompt, and refuses what no response could hold", async () => {
  const { sequences } = await sample({ num_samples: 1_100 }, { max_tokens: 1 });
  expect(sequences).toHaveLength(1_100);
  const refused = await sample({ num_samples: 16_384, topk_sample_logprobs: 512 });
  expect(JSON.stringify(refused)).toContain("topk_sample_logprobs asks for more than");
  const most = await sample({ num_samples: 16_385 });
  expect(JSON.stringify(most)).toContain("num_samples");
});
