/** An environment behind the Open Reward Standard: the routes of its server. */
import { randomUUID } from "node:crypto";
import { Hono, type Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { streamSSE } from "hono/streaming";
import { z } from "zod";
import type { EnvironmentResult, EnvironmentTool } from "../../core/environment.ts";
import type { Task } from "../../core/task.ts";
import { raceAbort } from "../../util/abort.ts";
import { actionSchema } from "./openenv-session.ts";
import { type ServedSource, specOfTask, taskOfSpec } from "./served-source.ts";
import { ServedSession, type ServedResult } from "./served-session.ts";

const pingMs = 10_000;
/** Pieces of a result, in characters. */
const pieceChars = 4096;
/** Sessions without requests for this long end. */
const abandonedMs = 15 * 60_000;
/** Room for the transcripts of a group that is scored. */
const maxBodyBytes = 64 * 2 ** 20;
const sessionHeader = "x-session-id";

/** The tool through which a plain response reaches an environment without tools. */
const terminal = { name: "respond", arg: "text", description: "Gives the response." };
const terminalTool: EnvironmentTool = {
  name: terminal.name,
  description: terminal.description,
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};

const create = z
  .strictObject({
    env_name: z.string().optional(),
    split: z.string().optional(),
    index: z.int().min(0).optional(),
    task_spec: z.record(z.string(), z.unknown()).optional(),
    toolset_name: z.string().nullish(),
  })
  .refine(
    ({ split, index, task_spec }) =>
      (task_spec === undefined) === (split !== undefined && index !== undefined),
    "exactly one of task_spec and split with index is needed",
  );
const range = z.object({
  split: z.string(),
  index: z.int().min(0).optional(),
  start: z.int().min(0).optional(),
  stop: z.int().min(0).optional(),
});
const callBody = z.object({
  name: z.string(),
  input: z.record(z.string(), z.unknown()).default({}),
  task_id: z.string().optional(),
});

/** The routes, and what ends all sessions. */
export interface OrsApp {
  readonly app: Hono;
  close(): Promise<void>;
}

export function createOrsApp(source: ServedSource): OrsApp {
  const name = source.name.toLowerCase();
  const sessions = new Map<string, ServedSession>();
  const stop = new AbortController();
  const isText = source.tools.length === 0;
  const tools = {
    tools: [...source.tools, ...(isText ? [terminalTool] : [])].map((tool) => ({
      name: tool.name,
      description: tool.description ?? "",
      input_schema: tool.parameters,
    })),
    terminal_tool: isText ? terminal : null,
    supports_score_group: false,
    message_block_types: ["text"],
  };
  const tasksOf = async (split: string, start = 0, end = Infinity): Promise<Task[]> => {
    const tasks: Task[] = [];
    for await (const task of source.tasks(split, { start, stop: end }, stop.signal))
      tasks.push(task);
    return tasks;
  };

  const sweep = setInterval(() => {
    const now = Date.now();
    for (const [sid, session] of sessions) {
      if (now - session.seenAt > abandonedMs) void end(sid, session);
    }
  }, 60_000);
  sweep.unref();
  const end = async (sid: string, session: ServedSession): Promise<void> => {
    sessions.delete(sid);
    await session.close();
  };

  const app = new Hono();
  const onError = (c: Context): Response => c.json({ detail: "The request is too large" }, 413);
  app.use(bodyLimit({ maxSize: maxBodyBytes, onError }));
  const fail = (c: Context, status: 400 | 404 | 422, detail: string): Response =>
    c.json({ detail }, status);
  const sessionOf = (c: Context): ServedSession | null => {
    const session = sessions.get(c.req.header(sessionHeader) ?? "") ?? null;
    if (session !== null) session.seenAt = Date.now();
    return session;
  };
  const gone = (c: Context): Response => fail(c, 404, "Active environment not found");
  const read = async <T>(c: Context, schema: z.ZodType<T>): Promise<T | Response> => {
    const parsed = schema.safeParse(await c.req.json().catch(() => null));
    return parsed.success ? parsed.data : fail(c, 422, z.prettifyError(parsed.error));
  };

  app.get("/health", (c) => c.json({ status: "ok" }));
  // Episodes of OpenEnv are on sockets; its clients read the forms of messages here.
  app.get("/schema", (c) =>
    c.json({
      action: actionSchema(source),
      observation: { type: "object" },
      state: { type: "object" },
    }),
  );
  app.get("/metadata", (c) => c.json({ name, description: `The environment ${name}` }));
  app.get("/list_environments", (c) => c.json([name]));
  app.post("/create_session", (c) =>
    streamSSE(c, async (stream) => {
      await stream.writeSSE({ event: "task_id", data: randomUUID() });
      await stream.writeSSE({ event: "end", data: "" });
    }),
  );
  app.post("/create", async (c) => {
    const sid = c.req.header(sessionHeader);
    if (sid === undefined || sid === "") return fail(c, 400, "X-Session-ID header is required");
    if (sessions.has(sid)) return fail(c, 400, "Session already exists");
    const body = await read(c, create);
    if (body instanceof Response) return body;
    const { split = "", index = 0, task_spec } = body;
    const task =
      task_spec === undefined
        ? source.splits.includes(split)
          ? (await tasksOf(split, index, index + 1))[0]
          : undefined
        : taskOfSpec(task_spec);
    if (task === undefined)
      return fail(c, 400, `There is no task ${index} in the split "${split}".`);
    sessions.set(sid, new ServedSession(await source.open(task, { signal: stop.signal })));
    return c.json({ sid });
  });
  app.post("/ping", (c) => (sessionOf(c) === null ? gone(c) : c.json({ status: "ok" })));
  for (const path of ["/delete", "/delete_session"] as const) {
    app.post(path, async (c) => {
      const sid = c.req.header(sessionHeader) ?? "";
      const session = sessions.get(sid);
      if (session !== undefined) await end(sid, session);
      return c.json({ sid });
    });
  }

  const own = new Hono();
  own.get("/tools", (c) => c.json(tools));
  own.get("/task_tools", (c) => (sessionOf(c) === null ? gone(c) : c.json(tools)));
  own.get("/splits", (c) =>
    c.json(source.splits.map((split) => ({ name: split, type: kindOf(split) }))),
  );
  own.post("/:what{tasks|num_tasks|task|task_range}", async (c) => {
    const body = await read(c, range);
    if (body instanceof Response) return body;
    const { split, index, start = 0, stop: last } = body;
    if (!source.splits.includes(split)) return fail(c, 400, `There is no split "${split}".`);
    const what = c.req.param("what");
    if (what === "num_tasks") return c.json({ num_tasks: (await tasksOf(split)).length });
    if (what === "task") {
      if (index === undefined) return fail(c, 422, "index is needed");
      const [task] = await tasksOf(split, index, index + 1);
      return task === undefined
        ? fail(c, 404, `There is no task ${index}.`)
        : c.json({ task: specOfTask(task), env_name: name });
    }
    const tasks = what === "tasks" ? await tasksOf(split) : await tasksOf(split, start, last);
    return c.json({ tasks: tasks.map(specOfTask), env_name: name });
  });
  own.get("/prompt", (c) => {
    const session = sessionOf(c);
    return session === null ? gone(c) : c.json(session.episode.prompt.flatMap(blocksOf));
  });
  own.get("/messages", (c) => {
    const session = sessionOf(c);
    if (session === null) return gone(c);
    return c.json(
      session.episode.prompt.map((message) => ({
        role: message.role,
        blocks: blocksOf(message),
        detail: null,
      })),
    );
  });
  own.post("/call", async (c) => {
    const session = sessionOf(c);
    if (session === null) return gone(c);
    const body = await read(c, callBody);
    if (body instanceof Response) return body;
    const known = body.task_id === undefined ? undefined : session.find(body.task_id);
    if (body.task_id !== undefined && known === undefined) return fail(c, 404, "Task not found");
    const call =
      known ?? session.begin((signal) => runCall(session, body, isText, signal), formatCall);
    return streamSSE(c, async (stream) => {
      await stream.writeSSE({ event: "task_id", data: call.id });
      const pings = setInterval(() => void stream.write(": ping\n\n"), pingMs);
      const left = new AbortController();
      stream.onAbort(() => left.abort());
      try {
        const { event: last, text } = await raceAbort(call.result, left.signal);
        if (last === "error") {
          await stream.writeSSE({ event: last, data: text });
          return;
        }
        for (let at = 0; at < text.length; at += pieceChars) {
          const event = at + pieceChars >= text.length ? "end" : "chunk";
          // oxlint-disable-next-line no-await-in-loop
          await stream.writeSSE({ event, data: text.slice(at, at + pieceChars) });
        }
      } catch {
        // The client left; the result stays for it.
      } finally {
        clearInterval(pings);
      }
    });
  });
  own.post("/score_group", (c) => fail(c, 404, "score_group is not implemented"));
  app.route(`/${name}`, own);
  // Clients leave the name out where there is one environment only.
  app.route("/", own);

  return {
    app,
    close: async () => {
      clearInterval(sweep);
      stop.abort(new Error("The server was closed."));
      await Promise.all(Array.from(sessions, ([sid, session]) => end(sid, session)));
    },
  };
}

async function runCall(
  session: ServedSession,
  { name, input }: z.infer<typeof callBody>,
  isText: boolean,
  signal: AbortSignal,
): Promise<EnvironmentResult> {
  const { episode } = session;
  if (session.isFinished) return { text: "The episode has ended.", isError: true, done: true };
  if (isText && name === terminal.name && episode.respond !== undefined) {
    const text = input[terminal.arg];
    return typeof text === "string"
      ? await episode.respond(text, signal)
      : { text: '"text" must be a string.', isError: true };
  }
  if (!episode.tools.some((tool) => tool.name === name)) {
    return { text: `There is no tool "${name}".`, isError: true };
  }
  return await episode.call(name, input, signal);
}

function formatCall(outcome: EnvironmentResult | Error): ServedResult {
  if (outcome instanceof Error) return { event: "error", text: outcome.message };
  return { event: "end", text: JSON.stringify(wireOf(outcome)) };
}

function wireOf(outcome: EnvironmentResult): object {
  const { text, reward = null, done = false, isError = false } = outcome;
  if (isError) {
    const reason = done ? "episode_finished" : "input_validation";
    return { ok: false, error: text, reason };
  }
  const blocks = [{ text, detail: null, type: "text" }];
  return { ok: true, output: { blocks, metadata: null, reward, finished: done } };
}

const blocksOf = ({ content }: { readonly content: unknown }): object[] => [
  {
    text: typeof content === "string" ? content : JSON.stringify(content),
    detail: null,
    type: "text",
  },
];

const kindOf = (split: string): string => (/^(?:train|validation)$/u.test(split) ? split : "test");
