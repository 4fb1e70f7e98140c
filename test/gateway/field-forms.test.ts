/** Forms of fields that clients, routers and other servers have: each is supported, refused by name, or reported. */
import { describe, expect, it } from "vitest";
import { createTestGateway, userSays, type WireError } from "./function-client.ts";

const tools = ["f", "g"].map((name) => ({
  type: "function",
  function: { name, parameters: { type: "object", properties: { a: { type: "string" } } } },
}));
const schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
const messages = [userSays("hi")];
const calls = (name: string): string =>
  `<tool_call>\n{"name": "${name}", "arguments": {}}\n</tool_call>`;

interface Outcome {
  readonly status: number;
  readonly message: string;
  readonly header: string;
  readonly warnings: readonly string[];
  readonly traces: readonly { readonly unmet?: string; readonly tools: readonly unknown[] }[];
}

const bodies: Readonly<Record<string, object>> = {
  "/chat/completions": { messages },
  "/completions": { prompt: "hi" },
  "/messages": { messages, max_tokens: 99 },
  "/responses": { input: "hi" },
};

async function send(path: string, fields: object, says = "ok"): Promise<Outcome> {
  const warnings: string[] = [];
  const onWarning = (text: string): number => warnings.push(text);
  const gateway = createTestGateway(() => says, {}, { onWarning });
  const session = await gateway.open();
  const response = await session.post({ ...bodies[path], ...fields }, { path });
  const told = (await response.json()) as Partial<WireError>;
  return {
    status: response.status,
    message: told.error?.message ?? "",
    header: response.headers.get("x-agent-trainer-unenforced") ?? "",
    warnings,
    traces: (await session.traces()) as unknown as Outcome["traces"],
  };
}

describe("tool_choice", () => {
  const named = { type: "function", function: { name: "f" } };
  const flat = { type: "function", name: "f" };
  const allowed = (mode: string) => ({ mode, tools: [named] });

  it.each<readonly [string, unknown, string]>([
    ["required", "required", "no tool was called"],
    ["any", "any", "no tool was called"],
    ["any of Anthropic's", { type: "any" }, "no tool was called"],
    ["a function", named, "no tool was called"],
    ["a function as Responses has it", flat, "no tool was called"],
    ["a tool as Anthropic has it", { type: "tool", name: "f" }, "no tool was called"],
    [
      "allowed_tools, required",
      { type: "allowed_tools", allowed_tools: allowed("required") },
      "no tool was called",
    ],
    [
      "allowed_tools as Responses has it",
      { type: "allowed_tools", mode: "required", tools: [flat] },
      "no tool was called",
    ],
  ])("is enforced or reported: %s", async (_name, choice, unmet) => {
    const { status, header, traces } = await send("/chat/completions", {
      tools,
      tool_choice: choice,
    });
    expect([status, header]).toEqual([200, "tool_choice: responses are sampled freely"]);
    expect(traces).toMatchObject([{ unmet: `tool_choice: ${unmet}` }]);
    expect(traces[0]?.tools).toHaveLength(2);
  });

  it("restricts which tools may be called", async () => {
    const choice = { type: "allowed_tools", allowed_tools: allowed("auto") };
    const other = await send("/chat/completions", { tools, tool_choice: choice }, calls("g"));
    expect(other.traces).toMatchObject([{ unmet: "tool_choice: another tool was called" }]);
    const right = await send("/chat/completions", { tools, tool_choice: choice }, calls("f"));
    expect(right.traces).toMatchObject([{ unmet: null }]);
    const none = await send("/chat/completions", { tools, tool_choice: choice });
    expect(none.traces).toMatchObject([{ unmet: null }]);
  });

  it.each([["auto"], [{ type: "auto" }], [null]])("asks for nothing: %j", async (choice) => {
    const { status, header, traces } = await send("/chat/completions", {
      tools,
      tool_choice: choice,
    });
    expect([status, header, traces[0]?.tools.length]).toEqual([200, "", 2]);
  });

  it.each([["none"], [{ type: "none" }]])("takes the tools away: %j", async (choice) => {
    const { traces } = await send("/chat/completions", { tools, tool_choice: choice });
    expect(traces[0]?.tools).toEqual([]);
  });

  const refused: readonly unknown[] = [
    "sometimes",
    "f",
    3,
    true,
    [],
    {},
    { type: "function" },
    { type: "function", function: {} },
    { type: "tool", name: 3 },
    { function: { name: "f" } },
    { type: "web_search_preview" },
    { type: "custom", name: "f" },
    { type: "auto", name: "f" },
    { type: "required", tools: ["f"] },
    { type: "allowed_tools", allowed_tools: { mode: "sometimes", tools: [named] } },
    { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [] } },
    { type: "allowed_tools", allowed_tools: { mode: "auto", tools: ["f"] } },
    { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [{ type: "mcp" }] } },
    { type: "function", function: { name: "unknown" } },
    { type: "toString" },
    { type: "auto", disable_parallel_tool_use: "yes" },
    "toString",
  ];
  it.each(refused.map((each) => [each]))("is refused by name: %j", async (choice) => {
    for (const path of ["/chat/completions", "/responses", "/messages"]) {
      const own =
        path === "/chat/completions"
          ? tools
          : tools.map(({ function: { name } }) =>
              path === "/messages" ? { name, input_schema: {} } : { type: "function", name },
            );
      // oxlint-disable-next-line no-await-in-loop
      const { status, message } = await send(path, { tools: own, tool_choice: choice });
      expect([path, status, message]).toEqual([path, 400, expect.stringContaining("tool_choice")]);
    }
  });
});

describe("response_format", () => {
  const places: readonly (readonly [string, (format: unknown) => object, string])[] = [
    ["/chat/completions", (value) => ({ response_format: value }), "response_format"],
    ["/completions", (value) => ({ response_format: value }), "response_format"],
    ["/responses", (format) => ({ text: { format } }), "text.format"],
    ["/messages", (format) => ({ output_config: { format } }), "output_config.format"],
    ["/messages", (value) => ({ output_format: value }), "output_format"],
  ];

  const supported: readonly unknown[] = [
    { type: "json_schema", json_schema: { name: "x", schema } },
    { type: "json_schema", json_schema: { name: "x", schema, strict: true, description: "d" } },
    { type: "json_schema", schema },
    { type: "json_schema", name: "x", schema, strict: null },
    { type: "json_object", schema },
  ];
  it.each(supported.map((each) => [each]))("is checked: %j", async (format) => {
    for (const [path, fields] of places) {
      // oxlint-disable-next-line no-await-in-loop
      const { status, header, traces } = await send(path, fields(format), "{}");
      expect([path, status]).toEqual([path, 200]);
      expect(header).toContain("response_format");
      expect(traces[0]?.unmet).toContain("a: is required");
    }
  });

  const refused: readonly unknown[] = [
    "json",
    "json_object",
    7,
    [],
    {},
    schema,
    { type: "structural_tag", structures: [], triggers: [] },
    { type: "regex", pattern: "a+" },
    { type: "grammar", grammar: 'root ::= "a"' },
    { type: "json_schema" },
    { type: "json_schema", json_schema: schema },
    { type: "json_schema", json_schema: "x" },
    { type: "json_schema", json_schema: { name: "x", schema: "{}" } },
    { type: "json_schema", json_schema: { name: "x", schema }, schema },
    { type: "json_object", json_schema: { schema } },
    { type: "text", schema },
    { type: "constructor" },
  ];
  it.each(refused.map((each) => [each]))("is refused by name: %j", async (format) => {
    for (const [path, fields, at] of places) {
      // oxlint-disable-next-line no-await-in-loop
      const { status, message } = await send(path, fields(format));
      expect([path, status, message]).toEqual([path, 400, expect.stringContaining(at)]);
    }
  });
});

describe("thinking", () => {
  const off: readonly (readonly [string, object])[] = [
    ["/chat/completions", { chat_template_kwargs: { enable_thinking: false } }],
    ["/chat/completions", { chat_template_kwargs: { thinking: false } }],
    ["/chat/completions", { reasoning_effort: "none" }],
    ["/chat/completions", { reasoning_effort: "minimal" }],
    ["/chat/completions", { reasoning: { effort: "none" } }],
    ["/chat/completions", { reasoning: { enabled: false } }],
    ["/chat/completions", { thinking: { type: "disabled" } }],
    ["/responses", { reasoning: { effort: "none" } }],
    ["/responses", { reasoning: { effort: "minimal", summary: "auto" } }],
    ["/responses", { chat_template_kwargs: { enable_thinking: false } }],
    ["/messages", { thinking: { type: "disabled" } }],
    ["/messages", { chat_template_kwargs: { enable_thinking: false } }],
  ];
  it.each(off)("off is said not to be chosen: %s %j", async (path, fields) => {
    const { status, header, warnings } = await send(path, fields);
    expect([status, header]).toEqual([
      200,
      "thinking off: this model's template has no choice of it",
    ]);
    expect(warnings.filter((text) => text.includes("thinking off"))).toHaveLength(1);
  });

  it("says so where it is on, too, and which part of it has no effect", async () => {
    const { header, warnings } = await send("/messages", {
      thinking: { type: "enabled", budget_tokens: 1024 },
    });
    expect(header).toContain("thinking on");
    expect(warnings.join()).toContain('"thinking.budget_tokens"');
    const effort = await send("/chat/completions", { reasoning_effort: "high" });
    expect(effort.warnings.join()).toContain("level of reasoning effort");
    expect((await send("/chat/completions", {})).header).toBe("");
  });

  const refused: readonly (readonly [string, object, string])[] = [
    ["/chat/completions", { reasoning_effort: 3 }, "reasoning_effort"],
    ["/chat/completions", { reasoning_effort: "a lot" }, "reasoning_effort"],
    ["/responses", { reasoning: "none" }, "reasoning"],
    ["/responses", { reasoning: { effort: false } }, "reasoning.effort"],
    ["/messages", { thinking: "disabled" }, "thinking"],
    ["/messages", { thinking: { type: "off" } }, "thinking.type"],
    ["/chat/completions", { chat_template_kwargs: { enable_thinking: "no" } }, "chat_template"],
    ["/chat/completions", { chat_template_kwargs: "no thinking" }, "chat_template_kwargs"],
  ];
  it.each(refused)("is refused by name: %s %j", async (path, fields, named) => {
    const { status, message } = await send(path, fields);
    expect([status, message]).toEqual([400, expect.stringContaining(named)]);
  });
});

describe("refusals say what is wrong", () => {
  const part = (...content: readonly object[]) => ({ messages: [{ role: "user", content }] });
  const seed = 2 ** 60;
  const cases: readonly (readonly [string, object, RegExp, RegExp])[] = [
    [
      "/responses",
      { tools: [{ type: "custom", name: "apply_patch" }] },
      /custom tools.*free text/u,
      /hosted|provider/u,
    ],
    ["/responses", { tools: [{ type: "web_search" }] }, /"web_search".*hosted/u, /custom/u],
    ["/chat/completions", { tools: [{ type: "custom", custom: {} }] }, /custom tools/u, /hosted/u],
    ["/chat/completions", { tools: ["f"] }, /tools\[0\]/u, /provider/u],
    ["/messages", { tools: [{ name: "f", strict: "yes" }] }, /strict.*true or false/u, /none/u],
    ["/messages", { tools: [{ type: "function", name: "f" }] }, /input_schema/u, /server/u],
    ["/messages", { tools: [{ name: "f", parameters: {} }] }, /call it input_schema/u, /none/u],
    [
      "/chat/completions",
      { tools: [{ type: "function", function: { name: "f", input_schema: {} } }] },
      /call it parameters/u,
      /none/u,
    ],
    [
      "/chat/completions",
      part({ type: "input_text", text: "x" }),
      /"input_text".*not one of/u,
      /reads/u,
    ],
    [
      "/chat/completions",
      {
        messages: [
          ...messages,
          { role: "assistant", content: [{ type: "thinking", thinking: "t" }] },
        ],
      },
      /"thinking".*reasoning_content/u,
      /reads text only/u,
    ],
    ["/chat/completions", part({ type: "input_audio" }), /reads text only/u, /not one of/u],
    ["/chat/completions", part({ text: "x" }), /not one of/u, /reads text only/u],
    ["/messages", part({ type: "search_result" }), /"search_result".*not one of/u, /reads/u],
    [
      "/messages",
      part({ type: "document", source: { type: "base64", data: "" } }),
      /source\.type.*"base64"/u,
      /not one of/u,
    ],
    ["/chat/completions", { seed }, /-9007199254740991 to 9007199254740991/u, /none/u],
    ["/messages", { seed }, /-9007199254740991 to 9007199254740991/u, /none/u],
    ["/chat/completions", { top_k: seed * 4 }, /to 9007199254740991/u, /none/u],
  ];
  it.each(cases)("%s %j", async (path, fields, right, wrong) => {
    const { status, message } = await send(path, fields);
    expect(status).toBe(400);
    expect(message).toMatch(right);
    expect(message).not.toMatch(wrong);
  });

  it("reads a document that is text", async () => {
    const source = { type: "text", media_type: "text/plain", data: "words" };
    const blocks = { type: "content", content: [{ type: "text", text: "more" }] };
    const gateway = createTestGateway(() => "ok");
    const session = await gateway.open();
    const content = [
      { type: "document", source, title: "A title", context: "Of a book" },
      { type: "document", source: blocks },
    ];
    await session.complete({ messages: [{ role: "user", content }], max_tokens: 9 }, "/messages");
    expect((await session.traces())[0]?.messages[0]?.content).toEqual([
      { type: "text", text: "A title\n\nOf a book\n\nwords" },
      { type: "text", text: "more" },
    ]);
  });

  it("keeps what an assistant refused", async () => {
    const session = await createTestGateway(() => "ok").open();
    const refusal = { role: "assistant", content: null, refusal: "I will not." };
    await session.complete({ messages: [userSays("a"), refusal, userSays("b")] });
    expect((await session.traces())[0]?.messages[1]?.content).toBe("I will not.");
  });
});

it("reports fields of objects that have no effect, by their place", async () => {
  const named = async (path: string, fields: object): Promise<readonly string[]> =>
    (await send(path, fields)).warnings.flatMap((text) => /field "(.*?)"/u.exec(text)?.[1] ?? []);
  const tool = { name: "f", input_schema: {}, cache_control: {}, input_examples: [] };
  expect(await named("/messages", { tools: [tool, tool] })).toEqual(["tools.input_examples"]);
  const own = { type: "function", function: { name: "f", returns: {} }, priority: 1 };
  expect(await named("/chat/completions", { tools: [own], n: 1 })).toEqual([
    "tools.priority",
    "tools.function.returns",
  ]);
  expect(await named("/responses", { text: { verbosity: "low" } })).toEqual(["text.verbosity"]);
  expect(await named("/completions", { reasoning_effort: "low" })).toEqual(["reasoning_effort"]);
  expect(await named("/chat/completions", { stream_options: { every: 2 } })).toEqual([
    "stream_options.every",
  ]);
  const prefix = [...messages, { role: "assistant", content: "a", prefix: true, audio: null }];
  expect(await named("/chat/completions", { messages: prefix })).toEqual(["messages.prefix"]);
});

describe("a line for the provider's records before the system prompt", () => {
  const line = (n: number): string =>
    `x-anthropic-billing-header: cc_version=2.1.177.01c; cc_entrypoint=cli; cch=36ee${n};`;
  const agent = { type: "text", text: "You are an agent.", cache_control: { type: "ephemeral" } };
  const cases: readonly (readonly [string, (n: number) => unknown])[] = [
    ["a block", (n) => [{ type: "text", text: line(n) }, agent]],
    ["the first line of a block", (n) => [{ type: "text", text: `${line(n)}\n${agent.text}` }]],
    ["the first line of a text", (n) => `${line(n)}\n${agent.text}`],
    ["a later block", (n) => [agent, { type: "text", text: line(n) }]],
    ["all there is", (n) => [{ type: "text", text: line(n) }]],
    ["not there", () => [agent]],
  ];
  it.each(cases)("%s", async (name, system) => {
    const warnings: string[] = [];
    const gateway = createTestGateway(() => "ok", {}, { onWarning: (text) => warnings.push(text) });
    const session = await gateway.open();
    const first = { messages, max_tokens: 9, system: system(1) };
    const { content } = (await session.complete(first, "/messages")) as unknown as {
      content: object[];
    };
    const next = [...messages, { role: "assistant", content }, userSays("more")];
    await session.complete({ ...first, messages: next, system: system(2) }, "/messages");
    const traces = await session.traces();
    expect(traces[1]?.parent_trace_id).toBe(traces[0]?.trace_id);
    const said = traces[0]?.messages.filter(({ role }) => role === "system");
    const kept = name === "all there is" ? [] : [{ role: "system", content: agent.text }];
    expect(said).toEqual(kept);
    expect(warnings).toHaveLength(name === "not there" ? 0 : 1);
  });
});
