/**
 * Serves one of these agents to agent-trainer: node serve.mjs ./openai/agent.mjs
 * Every rollout is a POST (docs/command-agents.md). GET /calls says how many model calls this process has
 * made, counted below the framework, at the sockets.
 */
import { subscribe } from "node:diagnostics_channel";
import { createServer } from "node:http";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

let calls = 0;
const count = (method, path) => {
  const isCall = /\/v1\/(?:chat\/completions|responses|messages)(?:\?|$)/u.test(path ?? "");
  if (method === "POST" && isCall) calls++;
};
subscribe("undici:request:create", ({ request }) => count(request.method, request.path));
subscribe("http.client.request.start", ({ request }) => count(request.method, request.path));

const { agent } = await import(pathToFileURL(resolve(process.argv[2])).href);

createServer(async (request, response) => {
  const reply = (status, body) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  if (request.url === "/calls") return reply(200, { calls });
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { task, config } = JSON.parse(Buffer.concat(chunks));
  const { base_url: baseUrl, api_key: apiKey, anthropic_base_url: anthropicBaseUrl } = config;
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  try {
    const endpoint = { baseUrl, apiKey, anthropicBaseUrl, model: config.model };
    const output = await agent(task, { ...endpoint, signal: gone.signal });
    reply(200, { output: output ?? "" });
  } catch (error) {
    reply(500, { error: String(error?.stack ?? error) });
  }
}).listen(Number(process.env.PORT), "127.0.0.1");
