/** A gateway in a small heap; tells its addresses and keys on the first line. */
import { createGateway } from "../../../src/gateway/index.ts";
import { scriptedTarget } from "../../../src/testing/index.ts";

const options = JSON.parse(process.argv[2] ?? "{}") as object;
const gateway = createGateway({ target: scriptedTarget(() => "ok"), model: "m", ...options });
const { url } = await gateway.listen();
const sessions = [];
for (let i = 0; i < 6; i++) {
  const { baseUrl, apiKey } = await gateway.sessions.open({ uid: `s${i}`, seed: 1, sampling: {} });
  sessions.push({ baseUrl, apiKey });
}
process.stdout.write(`${JSON.stringify({ url, sessions })}\n`);
process.stdin.on("end", () => process.exit(0)).resume();
