/** A short form of the matrix: the frameworks that are installed here, as its rows start them. */
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { madeBy, measureCapture } from "../../scripts/matrix/capture.ts";
import { startServer } from "../../src/rollouts/agents/http/agent-server.ts";
import { httpAgent } from "../../src/rollouts/agents/http/http-agent.ts";

const folder = resolve(import.meta.dirname, "../../examples/frameworks");
const rollouts = 48;

async function served<T>(name: string, use: (url: string) => Promise<T>): Promise<T> {
  const server = await startServer({
    command: [process.execPath, "serve.mjs", join(folder, name, "agent.mjs")],
    folder,
    env: {},
    passEnv: [],
    memoryMb: undefined,
    readyMs: 60_000,
  });
  try {
    return await use(`http://127.0.0.1:${server.port}/rollout`);
  } finally {
    await server.stop();
  }
}

describe("every call of a framework is captured in its own rollout, 16 at a time", () => {
  it.each(["fetch", "openai", "anthropic"])("%s", async (name) => {
    const load = (url: string) => ({ flow: httpAgent({ url }), rollouts, made: () => madeBy(url) });
    expect(await served(name, (url) => measureCapture(load(url)))).toEqual({
      calls: 4 * rollouts,
      captured: 4 * rollouts,
      misattributed: 0,
      rows: 1,
      error: null,
    });
  });

  it("counted between the agent and the gateway, in rollouts of some calls", async () => {
    const seen = await served("anthropic", async (url) => ({
      ...(await measureCapture({ flow: httpAgent({ url }), rollouts: 16, toolCalls: 3 })),
      atSockets: await madeBy(url),
    }));
    const [captured, misattributed] = [16 * 4, 0];
    expect(seen).toEqual({
      calls: captured,
      atSockets: captured,
      captured,
      misattributed,
      rows: 1,
      error: null,
    });
  });
});
