/** Services of training whose responses never end: refused by name, and not requested again. */
import { expect, it } from "vitest";
import { resolveSettings } from "../../src/backends/fireworks/api/client-options.ts";
import { FireworksHttp } from "../../src/backends/fireworks/api/http.ts";
import { Transport } from "../../src/tinker-api/transport.ts";

const piece = new Uint8Array(16 * 2 ** 20);

function endless() {
  let [requests, pieces] = [0, 0];
  const fetch = (): Promise<Response> => {
    requests += 1;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pieces += 1;
        // An oracle of its own, so that a reader without a limit fails instead of filling the memory.
        if (pieces > 100) controller.error(new RangeError("nobody stopped reading"));
        else controller.enqueue(piece);
      },
    });
    return Promise.resolve(new Response(body));
  };
  return { fetch, requests: () => requests };
}

it("of the Tinker API", async () => {
  const { fetch, requests } = endless();
  const transport = new Transport({
    baseUrl: "http://tinker.test",
    timeoutMs: 60_000,
    patienceMs: 60_000,
    fetch,
    onWarning: () => undefined,
    key: () => Promise.resolve("tml-x"),
  });
  await expect(transport.send({ method: "GET", path: "/api/v1/healthz" })).rejects.toThrow(
    "The response to GET /api/v1/healthz is larger than 1024 MiB.",
  );
  expect(requests()).toBe(1);
});

it("of Fireworks", async () => {
  const { fetch, requests } = endless();
  const http = new FireworksHttp(
    resolveSettings({ baseUrl: "http://fireworks.test", apiKey: "fw_x", fetch }),
  );
  await expect(http.send({ method: "GET", path: "/v1/models" })).rejects.toThrow(
    "The response to GET /v1/models is larger than 256 MiB.",
  );
  expect(requests()).toBe(1);
});
