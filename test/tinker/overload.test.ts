/** How many samples are in flight at a server that takes a few at a time. */
import { expect, it } from "vitest";
import { createTinkerClient } from "../../src/tinker-api/client.ts";

/** Responds 429 above `capacity` in flight; a sample is done when it is fetched. */
function scriptedServer(capacity: number) {
  const seen = { inFlight: 0, most: 0, refused: 0, served: 0, sent: 0 };
  let next = 0;
  const result = {
    sequences: [{ tokens: [1], logprobs: [-1], stop_reason: "length" }],
    type: "sample",
  };
  const fetch = async (input: string): Promise<Response> => {
    const path = new URL(input).pathname.replace("/api/v1/", "");
    await new Promise((resolve) => setImmediate(resolve));
    switch (path) {
      case "create_session":
        return Response.json({ session_id: "s" });
      case "create_sampling_session":
        return Response.json({ sampling_session_id: "s:sample:0" });
      case "asample":
        seen.sent += 1;
        if (seen.inFlight >= capacity) {
          seen.refused += 1;
          return Response.json({ detail: "busy" }, { status: 429 });
        }
        seen.inFlight += 1;
        seen.most = Math.max(seen.most, seen.inFlight);
        return Response.json({ request_id: String(next++) });
      case "retrieve_future":
        seen.inFlight -= 1;
        seen.served += 1;
        return Response.json(result);
      default:
        return Response.json({});
    }
  };
  return { seen, fetch };
}

it("comes down to what the server takes, and loses no sample", async () => {
  const { seen, fetch } = scriptedServer(4);
  await using client = await createTinkerClient({
    baseUrl: "http://busy.test",
    apiKey: "tml-test",
    fetch,
    maxConcurrentSamples: 64,
    sleep: () => new Promise((resolve) => setImmediate(resolve)),
    random: () => 0,
  });
  const sampler = await client.createSampler({ baseModel: "m" });
  const sampleAll = (count: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, () => sampler.sample(Int32Array.of(1), { maxTokens: 1 })),
    );
  await sampleAll(60);
  expect(seen).toMatchObject({ served: 60, most: 4 });
  const { refused } = seen;
  expect(refused).toBeGreaterThan(0);
  // The limit of one sampler is that of all: the next batch begins where the last one ended.
  const other = await client.createSampler({ baseModel: "m" });
  await Promise.all(
    Array.from({ length: 30 }, () => other.sample(Int32Array.of(1), { maxTokens: 1 })),
  );
  expect(seen.served).toBe(90);
  expect(seen.refused - refused).toBeLessThan(30);
});
