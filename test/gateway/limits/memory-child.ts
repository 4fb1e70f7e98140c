/** A gateway in a small heap; tells its addresses and keys on the first line. */
import { setTimeout as sleep } from "node:timers/promises";
import { AgentTrainerError } from "../../../src/core/errors.ts";
import { createGateway } from "../../../src/gateway/index.ts";
import { createScriptedTarget } from "../../../src/testing/index.ts";

const options = JSON.parse(process.argv[2] ?? "{}") as object;
/** Thinks for a while, and then refuses, so that nothing is kept of a call. */
const target = createScriptedTarget(
  async () => {
    await sleep(500);
    throw new AgentTrainerError({ code: "REQUEST_INVALID", message: "No." });
  },
  { contextLength: 1e9, keepRequests: false },
);
const gateway = createGateway({ target, model: "m", ...options });
const { url } = await gateway.listen();
const sessions = [];
for (let i = 0; i < 6; i++) {
  const { baseUrl, apiKey } = await gateway.sessions.open({ uid: `s${i}`, seed: 1, sampling: {} });
  sessions.push({ baseUrl, apiKey });
}
process.stdout.write(`${JSON.stringify({ url, sessions })}\n`);
process.stdin.on("end", () => process.exit(0)).resume();
