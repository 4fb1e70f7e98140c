/** The client of the Open Reward Standard against the recorded wire. */
import { afterEach, expect, it } from "vitest";
import type { EnvironmentSource } from "../../src/core/environment.ts";
import type { Task } from "../../src/core/task.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { environment } from "../../src/environments/environment.ts";
import { OrsSource } from "../../src/environments/ors/ors-source.ts";
import { startWireServer, type WireServer, type WireServerOptions } from "./ors-wire-server.ts";

const { signal } = new AbortController();
const servers: WireServer[] = [];
const start = async (options: WireServerOptions = {}): Promise<WireServer> => {
  const server = await startWireServer(options);
  servers.push(server);
  return server;
};
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function tasksOf(source: EnvironmentSource, split = "train"): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const task of source.tasks(split)) tasks.push(task);
  return tasks;
}

it("plays a task from its list to its reward, as recorded", async () => {
  const server = await start();
  const source = environment(`ors:${server.url}`);
  const [task] = await tasksOf(source);
  expect(task).toEqual({
    id: "train/0",
    instruction: "What is 2+2?",
    metadata: {
      question: "What is 2+2?",
      answer: "4",
      ors: { split: "train", index: 0, spec: { question: "What is 2+2?", answer: "4" } },
    },
  });
  const episode = await source.open(task!, { signal });
  expect(episode.prompt).toEqual([{ role: "user", content: "What is 2+2?" }]);
  expect(episode.tools.map(({ name }) => name)).toEqual(["answer"]);
  expect(await episode.call("answer", { answer: "4" }, signal)).toEqual({
    text: "Correct!",
    reward: 1,
    done: true,
  });
  await episode.close();
  await episode.close();
  expect(server.open.size).toBe(0);
  expect(server.calls).toMatchObject([{ name: "answer", input: { answer: "4" } }]);
  const created = server.requests.find(({ path }) => path === "/create");
  expect(created?.body).toEqual({
    env_name: "basicenvironment",
    task_spec: { question: "What is 2+2?", answer: "4" },
  });
  expect(server.requests.filter(({ path }) => path === "/delete")).toHaveLength(1);
});

it("asks for ranges where there is no list, page by page", async () => {
  const tasks = Array.from({ length: 1203 }, (_, i) => ({ question: `What is ${i}+1?` }));
  const server = await start({ tasks, rangesOnly: true });
  const source = new OrsSource({ url: server.url });
  const read = await tasksOf(source);
  expect(read.map(({ instruction }) => instruction)).toEqual(tasks.map(({ question }) => question));
  const pages = server.requests.filter(({ path }) => path.endsWith("task_range"));
  expect(pages.map(({ body }) => [body["start"], body["stop"]])).toEqual([
    [0, 500],
    [500, 1000],
    [1000, 1203],
  ]);
});

it("names the splits that there are", async () => {
  const server = await start();
  await expect(tasksOf(new OrsSource({ url: server.url }), "dev")).rejects.toThrow(
    /no split "dev"; it has train, test/u,
  );
});

it("sends secrets in their header, the key in its own, and neither in a body", async () => {
  const server = await start();
  const source = new OrsSource({ url: server.url, apiKey: "k", secrets: { SEARCH: "s3cret" } });
  const [task] = await tasksOf(source);
  await (await source.open(task!, { signal })).close();
  const { headers, body } = server.requests.find(({ path }) => path === "/create")!;
  const sent = Buffer.from(String(headers["x-secrets"]), "base64").toString();
  expect(JSON.parse(sent)).toEqual({ SEARCH: { value: "s3cret" } });
  expect(headers["x-api-key"]).toBe("k");
  expect(JSON.stringify(server.requests.map((one) => one.body))).not.toContain("s3cret");
  expect(JSON.stringify(body)).not.toContain("s3cret");
});

it("shows refusals of a call to the model, and goes on", async () => {
  const error = "Input validation failed";
  const server = await start({ output: () => ({ ok: false, error, reason: "input_validation" }) });
  const source = new OrsSource({ url: server.url });
  const [task] = await tasksOf(source);
  const episode = await source.open(task!, { signal });
  expect(await episode.call("answer", {}, signal)).toEqual({
    text: error,
    isError: true,
    done: false,
  });
  await episode.close();
});

it("gives a plain response to the terminal tool, which the model does not see", async () => {
  const server = await start({ terminal: { name: "answer", arg: "answer" } });
  const source = new OrsSource({ url: server.url });
  const [task] = await tasksOf(source);
  const episode = await source.open(task!, { signal });
  expect(episode.tools).toEqual([]);
  expect(await episode.respond("four", signal)).toMatchObject({ reward: 1, done: true });
  expect(server.calls).toMatchObject([{ name: "answer", input: { answer: "four" } }]);
  await episode.close();
});

it("joins a result of many pieces", async () => {
  const text = "äß€𝄞".repeat(5000);
  const blocks = [{ text, detail: null, type: "text" }];
  const output = { blocks, metadata: null, reward: null, finished: false };
  const server = await start({ output: () => ({ ok: true, output }) });
  const source = new OrsSource({ url: server.url });
  const [task] = await tasksOf(source);
  const episode = await source.open(task!, { signal });
  expect(await episode.call("answer", {}, signal)).toEqual({ text, done: false });
  await episode.close();
});

it.each(["after-id", "in-result"] as const)(
  "takes a call up again that was cut %s, and runs it once",
  async (fault) => {
    const server = await start({ fault: () => fault });
    const source = new OrsSource({ url: server.url });
    const [task] = await tasksOf(source);
    const episode = await source.open(task!, { signal });
    expect(await episode.call("answer", { answer: "4" }, signal)).toMatchObject({ reward: 1 });
    expect(server.calls).toHaveLength(1);
    await episode.close();
  },
);

it("does not repeat a call that was cut before its id: it may have run", async () => {
  const server = await start({ fault: () => "before" });
  const source = new OrsSource({ url: server.url });
  const [task] = await tasksOf(source);
  const episode = await source.open(task!, { signal });
  await expect(episode.call("answer", {}, signal)).rejects.toMatchObject({
    code: "ENVIRONMENT_FAILED",
    fields: { isFinal: false },
  });
  expect(server.requests.filter(({ path }) => path.endsWith("/call"))).toHaveLength(1);
  await episode.close();
});

it("waits for a server that says it is starting", async () => {
  let refusals = 0;
  const server = await start({
    handle: (path, response) => {
      if (!path.endsWith("/call") || refusals++ >= 2) return false;
      response
        .writeHead(503, { "x-backend-state": "starting", "retry-after": "0" })
        .end("starting");
      return true;
    },
  });
  const source = new OrsSource({ url: server.url });
  const [task] = await tasksOf(source);
  const episode = await source.open(task!, { signal });
  expect(await episode.call("answer", {}, signal)).toMatchObject({ reward: 1 });
  expect(refusals).toBe(3);
  await episode.close();
});

it("scores a group with the environment's own judge", async () => {
  const server = await start();
  const source = new OrsSource({ url: server.url });
  const [task] = await tasksOf(source);
  expect(await source.supportsGroups()).toBe(true);
  const attempts = [0, 1, 2].map(
    (i) => ({ id: String(i), trajectories: [] }) as unknown as Episode,
  );
  const scores = await source.scoreGroup(task!, attempts);
  expect(scores.map(({ reward }) => reward)).toEqual([0, 0.5, 1]);
  expect(server.open.size).toBe(0);
});

it("asks for a name where a server has several environments", async () => {
  const server = await start({
    handle: (path, response) => {
      if (path !== "/list_environments") return false;
      response.end('["one","two"]');
      return true;
    },
  });
  await expect(tasksOf(new OrsSource({ url: server.url }))).rejects.toThrow(/one, two/u);
});

it("refuses names without a protocol or an address", () => {
  expect(() => environment("osr:http://a")).toThrow(/no known protocol/u);
  expect(() => environment("ors:localhost")).toThrow(/no URL/u);
});
