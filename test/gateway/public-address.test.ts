/** Where a gateway listens and what agents are told, for agents that are not on this machine. */
import { networkInterfaces } from "node:os";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { createGateway } from "../../src/gateway/index.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";
import { createRolloutService } from "../../src/rollouts/service/gateway-service.ts";
import { flowProgram } from "../../src/rollouts/programs/function-programs.ts";
import { freePort } from "../free-port.ts";
import { request } from "../rollout/gateway-run.ts";

const target = createScriptedTarget(() => "ok");
const task = { id: "a", instruction: "Do a.", metadata: {} };

/** One rollout of a run with these options; what the agent got as its base URL. */
async function rolloutOf(
  overrides: readonly string[],
  ask: (baseUrl: string, apiKey: string) => Promise<unknown>,
) {
  const { config } = loadConfig({ overrides: ["model.name=scripted", ...overrides] });
  let seen = "";
  await using service = await createRolloutService({
    target,
    config,
    rollouts: {
      program: flowProgram(async (_, { baseUrl, apiKey }) => {
        seen = baseUrl;
        return await ask(baseUrl, apiKey);
      }),
      evaluator: () => true,
    },
  });
  const episodes = await service.run([{ task, rolloutIndex: 0, episodeId: "1/a/0", seed: 1 }], {
    isValidation: false,
    signal: new AbortController().signal,
    onEvent: () => {},
  });
  return { seen, episode: episodes[0]! };
}

describe("a run's gateway", () => {
  it("listens where gateway.host and gateway.port say, and is found at gateway.public_url", async () => {
    const port = await freePort();
    const { seen, episode } = await rolloutOf(
      [
        "gateway.host=0.0.0.0",
        `gateway.port=${port}`,
        `gateway.public_url=http://localhost:${port}/`,
      ],
      async (baseUrl, apiKey) => (await request({ baseUrl, apiKey }, "hi")).content,
    );
    expect(seen).toMatch(new RegExp(`^http://localhost:${port}/.+/v1$`, "u"));
    expect(episode).toMatchObject({ output: "ok", reward: 1 });
  });

  const address = Object.values(networkInterfaces())
    .flatMap((one) => one ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

  it.runIf(address !== undefined)(
    "refuses calls from elsewhere without the rollout's token",
    async () => {
      const { episode } = await rolloutOf(["gateway.host=0.0.0.0"], async (baseUrl, apiKey) => {
        const url = baseUrl.replace("127.0.0.1", address!);
        const statusOf = async (path: string, key: string) => {
          const headers = { authorization: `Bearer ${key}` };
          return (await fetch(path, { headers })).status;
        };
        const { origin } = new URL(url);
        return [
          await statusOf(`${url}/models`, apiKey),
          await statusOf(`${url}/models`, "session-wrong"),
          await statusOf(`${url}/models`, ""),
          await statusOf(`${origin}/sessions`, apiKey),
        ];
      });
      expect(episode.output).toEqual([200, 401, 401, 401]);
    },
  );

  it("is refused at another address without tokens", async () => {
    await using gateway = createGateway({ target, model: "scripted", open: true });
    await expect(gateway.listen({ host: "0.0.0.0" })).rejects.toThrow("requires no tokens");
  });

  it.each(["ftp://host", "http://host/path", "host:80"])(
    "is not found at %s",
    async (publicUrl) => {
      await using gateway = createGateway({ target, model: "scripted" });
      await expect(gateway.listen({ publicUrl })).rejects.toThrow("without a path");
    },
  );
});
