/** A server of the Open Reward Standard as recorded from openreward 0.1.167, with faults on purpose. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What happens to a connection of `/call`. */
export type Fault = "none" | "before" | "after-id" | "in-result";

/** A call of a tool as the environment saw it. */
export interface SeenCall {
  readonly sid: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface WireServerOptions {
  /** Output of a call. @default { blocks, reward: 1, finished: true } */
  readonly output?: (call: SeenCall, before: readonly SeenCall[]) => object;
  /** Of the nth request of `/call` from 0, without those that take one up again. */
  readonly fault?: (index: number) => Fault;
  /** Takes over a request; true when it did. */
  readonly handle?: (path: string, response: ServerResponse, request: IncomingMessage) => boolean;
  readonly terminal?: { readonly name: string; readonly arg: string | null } | null;
  readonly tasks?: readonly object[];
  /** Tasks only by ranges. @default false */
  readonly rangesOnly?: boolean;
}

export interface WireServer {
  readonly url: string;
  readonly calls: readonly SeenCall[];
  readonly requests: readonly {
    readonly path: string;
    readonly body: Record<string, unknown>;
    readonly headers: IncomingMessage["headers"];
  }[];
  readonly open: ReadonlySet<string>;
  close(): Promise<void>;
}

const pieceChars = 4096;

export async function startWireServer(options: WireServerOptions = {}): Promise<WireServer> {
  const { tasks = [{ question: "What is 2+2?", answer: "4" }], terminal = null } = options;
  const calls: SeenCall[] = [];
  const requests: WireServer["requests"][number][] = [];
  const open = new Set<string>();
  const results = new Map<string, string>();
  let begun = 0;
  const tools = {
    tools: [
      {
        name: "answer",
        description: "Answer the question",
        input_schema: { type: "object", properties: { answer: { type: "string" } } },
      },
    ],
    terminal_tool: terminal === null ? null : { ...terminal, description: "" },
    supports_score_group: true,
    message_block_types: ["text", "image", "reasoning", "tool_call", "tool_result"],
  };
  const runCall = (sid: string, body: Record<string, unknown>): string => {
    const call = { sid, name: body["name"], input: body["input"] } as SeenCall;
    const before = calls.filter((one) => one.sid === sid);
    calls.push(call);
    const blocks = [{ text: "Correct!", detail: null, type: "text" }];
    const output = { blocks, metadata: null, reward: 1, finished: true };
    return JSON.stringify(options.output?.(call, before) ?? { ok: true, output });
  };
  const stream = (response: ServerResponse, id: string, fault: Fault): void => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`event: task_id\r\ndata: ${id}\r\n\r\n`);
    const text = results.get(id) ?? "";
    const pieces = text.match(new RegExp(`[^]{1,${pieceChars}}`, "gu")) ?? [""];
    const lines = pieces.map(
      (piece, i) => `event: ${i === pieces.length - 1 ? "end" : "chunk"}\r\ndata: ${piece}\r\n\r\n`,
    );
    if (fault === "after-id" || fault === "in-result") {
      const part = fault === "in-result" ? lines.join("").slice(0, -9) : ": ping\r\n\r\n";
      response.write(part, () => response.destroy());
    } else response.end(`: ping - 2026-11-22\r\n\r\n${lines.join("")}`);
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const path = request.url ?? "";
      const body = JSON.parse(Buffer.concat(chunks).toString() || "{}") as Record<string, unknown>;
      requests.push({ path, body, headers: request.headers });
      if (options.handle?.(path, response, request) === true) return;
      const sid = String(request.headers["x-session-id"] ?? "");
      const json = (value: unknown, status = 200): void => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(JSON.stringify(value));
      };
      const at = path.split("/").at(-1);
      const isOpen = open.has(sid);
      if (path === "/list_environments") json(["basicenvironment"]);
      else if (at === "tools" || (at === "task_tools" && isOpen)) json(tools);
      else if (at === "splits")
        json([
          { name: "train", type: "train" },
          { name: "test", type: "test" },
        ]);
      else if (at === "tasks" && options.rangesOnly === true) {
        json({ detail: "list_tasks is not supported" }, 400);
      } else if (at === "tasks") json({ tasks, env_name: "basicenvironment" });
      else if (at === "num_tasks") json({ num_tasks: tasks.length });
      else if (at === "task_range") {
        const { start, stop } = body as { start: number; stop: number };
        json({ tasks: tasks.slice(start, stop), env_name: "basicenvironment" });
      } else if (path === "/create") {
        if (isOpen) json({ detail: "Session already exists" }, 400);
        else {
          open.add(sid);
          json({ sid });
        }
      } else if (path === "/delete") {
        open.delete(sid);
        json({ sid });
      } else if (!isOpen) json({ detail: "Active environment not found" }, 404);
      else if (path === "/ping") json({ status: "ok" });
      else if (at === "prompt") json([{ text: "What is 2+2?", detail: null, type: "text" }]);
      else if (at === "score_group") {
        const { candidates } = body as { candidates: readonly unknown[] };
        const scores = candidates.map((_one, i) => ({ reward: i / 2, metadata: null }));
        results.set("group", JSON.stringify({ scores }));
        stream(response, "group", "none");
      } else if (at === "call" && typeof body["task_id"] === "string") {
        stream(response, body["task_id"], "none");
      } else if (at === "call") {
        const fault = options.fault?.(begun++) ?? "none";
        if (fault === "before") {
          response.destroy();
          return;
        }
        const id = `${sid}-${calls.length}`.replaceAll("-", "");
        results.set(id, runCall(sid, body));
        stream(response, id, fault);
      } else json({ detail: "Not Found" }, 404);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    requests,
    open,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
