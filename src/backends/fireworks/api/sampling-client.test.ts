import { expect, it } from "vitest";
import { AdaptiveSlots } from "../../../util/adaptive-slots.ts";
import { resolveSettings } from "./client-options.ts";
import { FireworksHttp } from "./http.ts";
import { FireworksSamplingClient } from "./sampling-client.ts";

const stream = `data: ${JSON.stringify({
  choices: [
    {
      logprobs: { content: [{ token_id: 7, logprob: -0.5 }] },
      finish_reason: "length",
      raw_output: { completion_token_ids: [7] },
    },
  ],
  usage: { prompt_tokens: 1 },
})}\n\ndata: [DONE]\n\n`;

/** Responds with these statuses, then with a sample; never waits. */
function serverOf(...statuses: readonly number[]): FireworksHttp {
  const left = [...statuses];
  return new FireworksHttp(
    resolveSettings({
      apiKey: "key",
      fetch: async () => {
        const status = left.shift();
        return status === undefined ? new Response(stream) : new Response("", { status });
      },
      sleep: async () => {},
    }),
  );
}

it.each([
  [[429], 4],
  [[503, 429], 2],
  // Neither says that there is too much at once.
  [[500, 408], 8],
] as const)("after %j, %i of eight requests may run at once", async (statuses, limit) => {
  const slots = new AdaptiveSlots(8);
  const client = new FireworksSamplingClient(serverOf(...statuses), slots, "m");
  const { tokens } = await client.sample(Int32Array.of(1), { maxTokens: 1 });
  expect([...tokens]).toEqual([7]);
  expect(slots.limit).toBe(limit);
});
