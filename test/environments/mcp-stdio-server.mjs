/** A server of the Model Context Protocol over standard input and output, as small as it gets. */
import { createInterface } from "node:readline";

const tools = [
  {
    name: "add",
    description: "Adds",
    inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
  },
  { name: "picture", inputSchema: { type: "object" } },
  { name: "fail", inputSchema: { type: "object" } },
];

/** Two pages. */
const list = ({ cursor }) =>
  cursor === undefined ? { tools: tools.slice(0, 1), nextCursor: "2" } : { tools: tools.slice(1) };

function call({ name, arguments: { a, b } = {} }) {
  if (name === "add") return { content: [{ type: "text", text: String(a + b) }] };
  if (name === "picture")
    return { content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] };
  return { content: [{ type: "text", text: "It failed." }], isError: true };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue;
  const initialize = () => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "small", version: "1" },
  });
  const known = { initialize, "tools/list": () => list(params), "tools/call": () => call(params) };
  const run = known[method];
  const outcome =
    run === undefined ? { error: { code: -32601, message: `No ${method}` } } : { result: run() };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...outcome })}\n`);
}
