/** Services of training and models whose responses never end: refused by name, and not requested again. */
import { afterEach, expect, it, vi } from "vitest";
import { resolveSettings } from "../../src/backends/fireworks/api/client-options.ts";
import { FireworksHttp } from "../../src/backends/fireworks/api/http.ts";
import { BridgeClient } from "../../src/backends/verl/bridge-client.ts";
import { resolveSettings as resolveTinker } from "../../src/tinker-api/client-options.ts";
import { RestClient } from "../../src/tinker-api/rest-client.ts";
import { tinkerProfile } from "../../src/tinker-api/tinker-profile.ts";
import { Transport } from "../../src/tinker-api/wire/transport.ts";

import { callModel } from "../../src/rollouts/workflow/model-call.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const piece = new Uint8Array(16 * 2 ** 20);

function endless() {
  let [requests, pieces] = [0, 0];
  const fetch = (): Promise<Response> => {
    requests += 1;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pieces += 1;
        // An oracle of its own, so that a reader without a limit fails instead of filling the memory.
        if (pieces > 300) controller.error(new RangeError("nobody stopped reading"));
        else controller.enqueue(piece);
      },
    });
    return Promise.resolve(new Response(body));
  };
  return { fetch, requests: () => requests };
}

it("of the Tinker API", async () => {
  const { fetch, requests } = endless();
  const settings = resolveTinker({ baseUrl: "http://tinker.test", apiKey: "tml-x", fetch });
  const transport = new Transport(
    tinkerProfile(settings, () => Promise.resolve("tml-x")),
    settings,
  );
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

it("of a checkpoint's archive", async () => {
  const { fetch, requests } = endless();
  vi.spyOn(globalThis, "fetch").mockImplementation(fetch);
  const location = { url: "http://archives.test/a.tar" };
  const settings = resolveTinker({
    baseUrl: "http://tinker.test",
    apiKey: "tml-x",
    fetch: () => Promise.resolve(Response.json(location)),
  });
  const rest = new RestClient(
    new Transport(
      tinkerProfile(settings, () => Promise.resolve("tml-x")),
      settings,
    ),
  );
  await expect(rest.downloadArchive("tinker://r:train:0/weights/a")).rejects.toThrow(
    "The archive of tinker://r:train:0/weights/a is larger than 4 GiB.",
  );
  expect(requests()).toBe(1);
});

it("of verl's bridge", async () => {
  const { fetch, requests } = endless();
  vi.spyOn(globalThis, "fetch").mockImplementation(fetch);
  const bridge = new BridgeClient({ url: "http://bridge.test", token: "t" });
  await expect(bridge.get("/status")).rejects.toThrow(
    "The bridge's response to /status is larger than 500 MiB.",
  );
  expect(requests()).toBe(1);
});

it("of a model that a workflow calls", async () => {
  const { fetch, requests } = endless();
  vi.spyOn(globalThis, "fetch").mockImplementation(fetch);
  const config = { model: "m", signal: new AbortController().signal };
  const endpoint = { baseUrl: "http://model.test/v1", apiKey: "k" };
  await expect(callModel(config, endpoint, [])).rejects.toMatchObject({
    ...{ code: "ROLLOUT_FAILED", message: expect.stringContaining("larger than 256 MiB") },
  });
  expect(requests()).toBe(1);
});
