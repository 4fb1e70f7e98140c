/** Prompt ids that the model does not have: refused in the protocol's shape, and nobody else notices. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BatchSampler } from "../../../src/engine/generation/batch-sampler.ts";
import { createGateway, type Gateway } from "../../../src/gateway/index.ts";
import { createByteRenderer } from "../../../src/testing/index.ts";
import { randomTokens, smallConfig, smallPolicy } from "../../engine/small-model.ts";

let gateway: Gateway;
let sampler: BatchSampler;

beforeAll(async () => {
  sampler = new BatchSampler((await smallPolicy()).weights);
  gateway = createGateway({
    target: { kind: "sampler", sampler, renderer: createByteRenderer() },
    model: "m",
  });
  await gateway.listen();
});
afterAll(async () => {
  await gateway.close();
  await sampler.close();
});

async function client(uid: string): Promise<(prompt: readonly unknown[]) => Promise<Response>> {
  const { baseUrl, apiKey } = await gateway.sessions.open({ uid, seed: 1, sampling: {} });
  return (prompt) =>
    fetch(`${baseUrl}/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "m", prompt, max_tokens: 8, logprobs: 0 }),
    });
}

describe("POST /v1/completions", () => {
  it.each([
    smallConfig.vocabSize,
    151_936,
    2 ** 31 - 1,
    2 ** 31,
    2 ** 32 + 1,
    -1,
    6.9,
    1e308,
    null,
    "x",
  ])("refuses the id %j", async (id) => {
    const request = await client(`bad-${id}`);
    const response = await request([1, 2, id]);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: {
        type: "invalid_request_error",
        param: "prompt",
        message: expect.stringMatching(/prompt/i),
      },
    });
  });

  it("names the id and its place", async () => {
    const request = await client("named");
    expect(await (await request([1, 2, 48])).json()).toMatchObject({
      error: {
        message: "The prompt has the token id 48 at position 2, but the model's ids are 0 to 47.",
      },
    });
  });

  it("refuses more ids than the context has, before it reads them", async () => {
    const request = await client("many");
    const response = await request(Array.from({ length: 2_000_000 }, () => 1));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: "context_length_exceeded", param: "prompt" },
    });
  });

  it("answers the calls of other sessions in the meantime, as if those had not been there", async () => {
    const prompts = Array.from({ length: 12 }, (_, i) => [...randomTokens(i, 20 + i * 7)]);
    const texts = async (uid: string, others: () => Promise<unknown>): Promise<unknown[]> => {
      const request = await client(uid);
      const calls = prompts.map(async (prompt) => {
        const response = await request(prompt);
        expect(response.status).toBe(200);
        const { choices } = (await response.json()) as { choices: unknown };
        return choices;
      });
      await others();
      return Promise.all(calls);
    };
    const alone = await texts("alone", () => Promise.resolve());
    const bad = await client("bad");
    const together = await texts("together", () =>
      Promise.all(
        Array.from({ length: 60 }, async (_, i) => {
          expect((await bad([1, 48 + i])).status).toBe(400);
        }),
      ),
    );
    expect(together).toEqual(alone);
  });
});
