/**
 * A shop assistant with the Claude Agent SDK: a process of Claude Code for each question, with own folders.
 * Claude Code makes calls for titles and the like: `httpAgent({ url, sideCalls: toolSideCalls })`, both of
 * `agent-trainer`, keeps them out of the training.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";
import { getPrice, multiply, questionsOf, systemPrompt } from "../shop.mjs";

export async function agent(task, { anthropicBaseUrl, apiKey, model, signal }) {
  const abortController = new AbortController();
  signal.addEventListener("abort", () => abortController.abort());
  const home = await mkdtemp(join(tmpdir(), "claude-"));
  const text = (value) => ({ content: [{ type: "text", text: value }] });
  const shop = createSdkMcpServer({
    name: "shop",
    tools: [
      tool("get_price", "", { item: z.string() }, async ({ item }) =>
        text(getPrice(task.metadata, item)),
      ),
      tool("multiply", "", { a: z.number(), b: z.number() }, async ({ a, b }) =>
        text(multiply(a, b)),
      ),
    ],
  });
  const options = {
    model,
    systemPrompt,
    tools: [],
    mcpServers: { shop },
    allowedTools: ["mcp__shop__get_price", "mcp__shop__multiply"],
    maxTurns: 80,
    abortController,
    settingSources: [],
    cwd: home,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      CLAUDE_CONFIG_DIR: join(home, "config"), // an empty one: no login
      ANTHROPIC_BASE_URL: anthropicBaseUrl, // changed
      ANTHROPIC_API_KEY: apiKey, // changed
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", // changed
    },
  };
  let resume;
  let output = "";
  try {
    for (const prompt of questionsOf(task)) {
      for await (const message of query({ prompt, options: { ...options, resume } })) {
        if (message.type === "result") {
          output = message.result ?? "";
          resume = message.session_id;
        }
      }
    }
    return output;
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  }
}
