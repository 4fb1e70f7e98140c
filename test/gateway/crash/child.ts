/** A gateway in a process of its own, to be killed: `child.ts STORE SYNCHRONOUS`. Answers are a function of the prompt. */
import { createGateway, openSqliteTraceStore } from "../../../src/gateway/index.ts";
import { scriptedTarget } from "../../../src/testing/index.ts";

const start = performance.now();
const [path, synchronous] = process.argv.slice(2) as [string, "full" | "normal"];
const store = openSqliteTraceStore(path, { synchronous });
const target = scriptedTarget(
  ({ tokens, choice }) => `answer ${choice} after ${tokens.length} tokens `.repeat(3),
  { chunkSize: 16 },
);
const gateway = createGateway({ target, model: "scripted", store, adminToken: "admin" });
const { url } = await gateway.listen();
process.stdout.write(`${JSON.stringify({ url, openMs: performance.now() - start })}\n`);
