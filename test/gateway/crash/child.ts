/** A gateway in a process of its own, to be killed: `child.ts STORE SYNCHRONOUS`. Answers are a function of the prompt. */
import { createGateway, createSqliteTraceStore } from "../../../src/gateway/index.ts";
import { createScriptedTarget } from "../../../src/testing/index.ts";

const start = performance.now();
const [path, synchronous] = process.argv.slice(2) as [string, "full" | "normal"];
const store = createSqliteTraceStore(path, { synchronous });
const target = createScriptedTarget(
  ({ tokens, choice }) => `answer ${choice} after ${tokens.length} tokens `.repeat(3),
  { chunkSize: 16 },
);
const gateway = createGateway({ target, model: "scripted", store, adminToken: "admin" });
const { url } = await gateway.listen();
process.stdout.write(`${JSON.stringify({ url, openMs: performance.now() - start })}\n`);
