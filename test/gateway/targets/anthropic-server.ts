/** A scripted server of Anthropic's Messages API, which refuses what the official one refuses. */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { text as readBody } from "node:stream/consumers";
import * as z from "zod";
import { serveHttp, type TestServer } from "../http-world.ts";

const textBlock = z.strictObject({
  type: z.literal("text"),
  text: z.string().regex(/\S/u, "text content blocks must contain non-whitespace text"),
});
const imageBlock = z.strictObject({
  type: z.literal("image"),
  source: z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("url"), url: z.url() }),
    z.strictObject({
      type: z.literal("base64"),
      media_type: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]),
      data: z.base64(),
    }),
  ]),
});
const id = z.string().regex(/^[a-zA-Z0-9_-]+$/u);
const name = z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/u);
const block = z.discriminatedUnion("type", [
  textBlock,
  imageBlock,
  z.strictObject({ type: z.literal("tool_use"), id, name, input: z.record(z.string(), z.any()) }),
  z.strictObject({
    type: z.literal("tool_result"),
    tool_use_id: id,
    content: z.array(z.discriminatedUnion("type", [textBlock, imageBlock])).optional(),
  }),
]);
const message = z.strictObject({
  role: z.enum(["user", "assistant"]),
  content: z.array(block).min(1),
});
const single = { disable_parallel_tool_use: z.boolean().optional() };

const prompt = {
  model: z.string().min(1),
  system: z.array(textBlock).optional(),
  messages: z.array(message).min(1),
  tools: z
    .array(
      z.strictObject({
        name,
        description: z.string().optional(),
        input_schema: z.looseObject({ type: z.literal("object") }),
      }),
    )
    .optional(),
  tool_choice: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("auto"), ...single }),
      z.strictObject({ type: z.literal("any"), ...single }),
      z.strictObject({ type: z.literal("none") }),
      z.strictObject({ type: z.literal("tool"), name, ...single }),
    ])
    .optional(),
};
const countBody = z.strictObject(prompt);
const messagesBody = z.strictObject({
  ...prompt,
  max_tokens: z.int().min(1),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.int().min(0).optional(),
  stop_sequences: z.array(z.string().min(1)).optional(),
  output_config: z
    .strictObject({
      format: z.strictObject({
        type: z.literal("json_schema"),
        schema: z.record(z.string(), z.any()),
      }),
    })
    .optional(),
});

export type MessagesBody = z.infer<typeof messagesBody>;
type PromptBody = z.infer<typeof countBody>;

/** What is wrong with the order of turns, in the API's words; null for nothing. */
function wrongOrder({ messages: turns, tools = [] }: PromptBody): string | null {
  if (turns[0]?.role !== "user") return 'messages: first message must use the "user" role';
  for (const [i, turn] of turns.entries()) {
    const called = turn.content.flatMap((each) => (each.type === "tool_use" ? [each.id] : []));
    const results = (turns[i + 1]?.content ?? []).flatMap((each) =>
      each.type === "tool_result" ? [each.tool_use_id] : [],
    );
    const open = called.filter((each) => !results.includes(each));
    if (open.length > 0) {
      return `messages.${i}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}.`;
    }
    if (results.some((each) => !called.includes(each))) {
      return `messages.${i + 1}: unexpected \`tool_use_id\` found in \`tool_result\` blocks.`;
    }
    if (called.length > 0 && tools.length === 0) {
      return "Requests which include `tool_use` or `tool_result` blocks must define tools.";
    }
  }
  return null;
}

/** All text of the messages. */
export const textOf = (messages: MessagesBody["messages"]): string =>
  messages
    .flatMap(({ content }) => content.map((each) => (each.type === "text" ? each.text : "")))
    .join("\n");

export interface AnthropicCall {
  readonly body: MessagesBody;
  readonly headers: IncomingHttpHeaders;
}

export interface AnthropicServer extends TestServer {
  /** Those that were accepted. */
  readonly calls: readonly AnthropicCall[];
  /** What was said to requests that were not. */
  readonly refusals: readonly string[];
}

/** The fields of a response that a script gives; the rest has defaults. */
export interface Scripted {
  readonly content: readonly object[];
  readonly stop_reason?: string;
  readonly stop_sequence?: string;
  readonly usage?: object;
}

/** Responds with this status and error instead. */
export interface Failing {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

export async function serveAnthropic(
  script: (body: MessagesBody, call: number) => Scripted | Failing,
  apiKey = "sk-ant-scripted",
): Promise<AnthropicServer> {
  const calls: AnthropicCall[] = [];
  const refusals: string[] = [];
  let asked = 0;

  function send(response: ServerResponse, status: number, body: object): void {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  }
  function fail(response: ServerResponse, { status, type, message: said }: Failing): void {
    if (status < 429) refusals.push(said);
    send(response, status, { type: "error", error: { type, message: said }, request_id: "req_1" });
  }

  const server = await serveHttp((request, response) => {
    void readBody(request).then((text) => {
      const { headers, url } = request;
      if (headers["x-api-key"] !== apiKey) {
        const said = `invalid x-api-key: ${String(headers["x-api-key"])}`;
        return fail(response, { status: 401, type: "authentication_error", message: said });
      }
      const invalid = (said: string): void =>
        fail(response, { status: 400, type: "invalid_request_error", message: said });
      if (headers["anthropic-version"] !== "2023-06-01") {
        return invalid("anthropic-version: header is required");
      }
      if (url === "/v1/models") {
        const model = { type: "model", id: "claude-scripted", display_name: "Scripted" };
        return send(response, 200, { data: [model], has_more: false });
      }
      const isCount = url === "/v1/messages/count_tokens";
      if (url !== "/v1/messages" && !isCount) {
        return fail(response, { status: 404, type: "not_found_error", message: `${url}` });
      }
      const json: unknown = JSON.parse(text);
      const prompted = (isCount ? countBody : messagesBody).safeParse(json);
      if (!prompted.success) return invalid(z.prettifyError(prompted.error));
      const wrong = wrongOrder(prompted.data);
      if (wrong !== null) return invalid(wrong);
      if (isCount) return send(response, 200, { input_tokens: 42 });
      const body = messagesBody.parse(json);
      const scripted = script(body, asked++);
      if ("status" in scripted) return fail(response, scripted);
      calls.push({ body, headers });
      return send(response, 200, {
        ...{ id: "msg_1", type: "message", role: "assistant", model: body.model },
        ...{ stop_reason: "end_turn", stop_sequence: null },
        usage: { input_tokens: 10, output_tokens: 5 },
        ...scripted,
      });
    });
  });
  return { ...server, calls, refusals, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}
