/** OpenEnv and MCP while a fifth of the connections is cut: no step twice, and nothing is lost. */
import { expect, it } from "vitest";
import type { EnvironmentEpisode, EnvironmentSource } from "../../src/core/environment.ts";
import type { Task } from "../../src/core/task.ts";
import { TrackedEpisode } from "../../src/environments/episode/tracked-episode.ts";
import { McpSource } from "../../src/environments/mcp/mcp-source.ts";
import { OpenEnvSource } from "../../src/environments/openenv/openenv-source.ts";
import { mapConcurrent } from "../../src/util/concurrency.ts";
import { deriveSeed } from "../../src/util/random.ts";
import { startMcpServer } from "./mcp-http-server.ts";
import { startOpenEnvServer } from "./openenv-wire-server.ts";

const episodes = 64;
const steps = 4;

/** A fifth of the steps, before the environment took it and after. Not every fifth: the last one would never end. */
const faultOf = (index: number): "none" | "before" | "after" => {
  const seed = deriveSeed(0, index);
  return seed % 5 > 0 ? "none" : seed % 10 === 0 ? "before" : "after";
};

const faultsOf = (count: number): number =>
  Array.from({ length: count }, (_, i) => faultOf(i)).filter((fault) => fault !== "none").length;

/** Plays every task to its end, beginning again where an attempt fails. Returns the failures. */
async function playAll(
  source: EnvironmentSource,
  tasks: readonly Task[],
  step: (episode: EnvironmentEpisode, name: string, signal: AbortSignal) => Promise<string>,
): Promise<number> {
  let failures = 0;
  let attempts = 0;
  await mapConcurrent(tasks, episodes, async (task, _index, signal) => {
    for (;;) {
      const attempt = attempts++;
      const episode = new TrackedEpisode(await source.open(task, { signal }));
      try {
        for (let n = 1; n <= steps; n++) {
          const said = await step(episode, `${attempt}:${n}`, signal);
          // The environment counts its steps: one that ran twice, or not at all, would show here.
          if (said !== String(n)) throw new TypeError(`Step ${n} was counted as ${said}.`);
        }
        return;
      } catch (error) {
        expect(error).toMatchObject({ code: "ENVIRONMENT_FAILED" });
        failures++;
      } finally {
        await episode.close();
      }
    }
  });
  return failures;
}

it("OpenEnv: 64 episodes, a fifth of the sockets cut", async () => {
  const counts = new WeakMap<object, number>();
  const taken: string[] = [];
  let begun = 0;
  await using server = await startOpenEnvServer({
    capacity: episodes,
    handle({ type, data }, socket) {
      if (type !== "step") return false;
      const fault = faultOf(begun++);
      if (fault !== "before") {
        const count = (counts.get(socket) ?? 0) + 1;
        counts.set(socket, count);
        taken.push(String(data["message"]));
        const observation = { message: String(count), metadata: {} };
        const text = JSON.stringify({
          type: "observation",
          data: { observation, reward: 1, done: count === steps },
        });
        if (fault === "none") socket.send(text);
      }
      if (fault !== "none") socket.terminate();
      return true;
    },
  });
  const source = new OpenEnvSource({ url: server.url, seeds: episodes });
  const tasks: Task[] = [];
  for await (const task of source.tasks("train")) tasks.push(task);
  const failures = await playAll(source, tasks, async (episode, name, signal) => {
    const { text = "" } = (await episode.respond?.(name, signal)) ?? {};
    return text;
  });
  expect(new Set(taken).size).toBe(taken.length);
  expect(failures).toBe(faultsOf(begun));
  expect(failures / begun).toBeGreaterThan(0.15);
});

it("MCP over HTTP: 64 episodes, a fifth of the connections cut", async () => {
  const counts = new Map<string, number>();
  const taken: string[] = [];
  let begun = 0;
  let kinds = 0;
  await using server = await startMcpServer({
    handle(response, message, args) {
      const fault = faultOf(begun++);
      if (fault === "before") {
        response.destroy();
        return true;
      }
      const name = String(args["name"]);
      const [attempt = ""] = name.split(":");
      const count = (counts.get(attempt) ?? 0) + 1;
      counts.set(attempt, count);
      taken.push(name);
      const result = { content: [{ type: "text", text: String(count) }] };
      const text = JSON.stringify({ ...message, result });
      if (fault === "none") {
        response.writeHead(200, { "content-type": "application/json" }).end(text);
        return true;
      }
      // Within a JSON body, within a stream, and a stream that just ends.
      const kind = kinds++ % 3;
      response.writeHead(200, {
        "content-type": kind === 0 ? "application/json" : "text/event-stream",
      });
      if (kind === 2) response.end(": nothing\n\n");
      else
        response.write(kind === 0 ? text.slice(0, 20) : `data: ${text.slice(0, 20)}`, () =>
          response.destroy(),
        );
      return true;
    },
  });
  const source = new McpSource({ server: server.url });
  const tasks = Array.from({ length: episodes }, (_, i) => ({
    id: String(i),
    instruction: "Count.",
    metadata: {},
  }));
  const failures = await playAll(
    source,
    tasks,
    async (episode, name, signal) => (await episode.call("count", { name }, signal)).text,
  );
  expect(new Set(taken).size).toBe(taken.length);
  expect(failures).toBe(faultsOf(begun));
  expect(failures / begun).toBeGreaterThan(0.15);
});
