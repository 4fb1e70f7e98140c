/** One process for all rollouts: its contract, many calls at once, and its end. */
import { describe, expect, it } from "vitest";
import { httpAgent, type HttpAgentOptions } from "../../src/rollouts/agents/http/http-agent.ts";
import { flowProgram } from "../../src/rollouts/programs/function-programs.ts";
import { runThroughGateway, type GatewayRun } from "../rollout/gateway-run.ts";
import { expectAttributed, scriptFolder } from "./agent-script.ts";

/** `handle(task, config)` returns the status and the body. */
const server = (handle: string): string => `
  import { createServer } from "node:http";
  const handle = ${handle};
  createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.headers.authorization !== "Bearer " + process.env.AGENT_TRAINER_AGENT_KEY) {
      response.writeHead(401).end();
      return;
    }
    const { task, config } = JSON.parse(Buffer.concat(chunks));
    const [status, body] = await handle(task, config);
    response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
  }).listen(process.env.PORT, "127.0.0.1");`;

async function runServer(
  source: string,
  run: GatewayRun = {},
  options: { readonly readyTimeoutMs?: number } = {},
) {
  const program = flowProgram(
    httpAgent({
      command: [process.execPath, "agent.mjs"],
      folder: scriptFolder(source),
      ...options,
    }),
  );
  try {
    return await runThroughGateway({ program, ...run });
  } finally {
    await program.dispose!();
  }
}

describe("an agent behind HTTP", () => {
  it("makes 1,024 calls in 16 rollouts at a time, each captured in its own rollout", async () => {
    const { episodes } = await runServer(
      server(`async (task, config) => {
        for (let turn = 0; turn < 16; turn++) await ask(task.id + " turn " + turn, config);
        return [200, { output: { of: task.id, process: process.pid }, metadata: { seen: true } }];
      }`),
      { tasks: Array.from({ length: 64 }, (_, i) => `t${i}`), limits: { concurrency: 16 } },
    );
    expectAttributed(episodes, 1024);
    const outputs = episodes.map(({ output }) => output as { of: string; process: number });
    expect(outputs.map(({ of }) => of)).toEqual(episodes.map(({ task }) => task.id));
    expect(new Set(outputs.map(({ process }) => process)).size).toBe(1);
    expect(episodes[0]!.metadata).toEqual({ seen: true });
  });

  it("that fails a rollout is scored; one that is overloaded is not", async () => {
    const { episodes } = await runServer(
      server(`async (task, config) => {
        if (task.id === "throws") return [500, { error: "KeyError: 'price'" }];
        if (task.id === "busy") return [503, { error: "come back" }];
        if (task.id === "text") return [200, "hello"];
        return [200, { answer: 4 }];
      }`),
      {
        tasks: ["throws", "busy", "text", "without"],
        failures: { reward: -1, retriesAgent: false },
      },
    );
    expect(episodes.map(({ reward }) => reward)).toEqual([-1, null, -1, -1]);
    expect(episodes.map(({ error }) => error!.message.split("\n").slice(0, 2))).toEqual([
      ["The agent's server responded with status 500. Its last lines:", "KeyError: 'price'"],
      [expect.stringContaining("cannot be reached (status 503)")],
      ["The agent's server responded with no JSON object. Its last lines:", "hello"],
      ["The agent's server responded without output, but with answer."],
    ]);
  });

  it("is started again where it ended, and the rollout is retried", async () => {
    const { episodes } = await runServer(
      server(`async (task) => {
        if (task.id === "kills") {
          const { existsSync, writeFileSync } = await import("node:fs");
          if (!existsSync("killed")) { writeFileSync("killed", ""); process.exit(1); }
        }
        return [200, { output: process.pid }];
      }`),
      { tasks: ["before", "kills", "after"], limits: { concurrency: 1, retries: 1 } },
    );
    const [before, killed, after] = episodes.map(({ output }) => Number(output));
    expect(before).toBeGreaterThan(0);
    expect(killed).not.toBe(before);
    expect(after).toBe(killed);
  });

  it.each([
    ["ends", 'console.error("no module"); process.exit(1);', "exit status 1"],
    ["does not listen", "setInterval(() => {}, 1000);", "took no connection"],
  ])("whose server %s says so, and nothing is scored", async (_, source, message) => {
    const { episode } = await runServer(source, {}, { readyTimeoutMs: 3000 });
    expect(episode).toMatchObject({ reward: null, error: { code: "ROLLOUT_FAILED" } });
    expect(episode.error!.message).toContain(message);
  });

  it.each([
    [{}, "needs either url or command"],
    [{ url: "localhost:1" }, "not an http or https URL"],
    [{ url: "http://localhost:1", maxOutputBytes: 0 }, "maxOutputBytes of httpAgent"],
  ])("with %j is refused", (options, message) => {
    expect(() => httpAgent(options as HttpAgentOptions)).toThrow(message);
  });
});
