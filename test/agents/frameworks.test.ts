/** A short form of the matrix: the frameworks that are installed here, as its rows start them. */
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { measureCapture } from "../../scripts/matrix/capture.ts";
import { startServer } from "../../src/agents/http/agent-server.ts";

const folder = resolve(import.meta.dirname, "../../examples/frameworks");
const rollouts = 48;

describe("every call of a framework is captured in its own rollout, 16 at a time", () => {
  it.each(["fetch", "openai", "anthropic"])("%s", async (name) => {
    const server = await startServer({
      command: [process.execPath, "serve.mjs", join(folder, name, "agent.mjs")],
      folder,
      env: {},
      passEnv: [],
      memoryMb: undefined,
      readyMs: 60_000,
    });
    try {
      const url = `http://127.0.0.1:${server.port}/rollout`;
      expect(await measureCapture(url, rollouts, "get_price")).toEqual({
        calls: 2 * rollouts,
        captured: 2 * rollouts,
        misattributed: 0,
        error: null,
      });
    } finally {
      await server.stop();
    }
  });
});
