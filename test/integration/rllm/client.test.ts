/** rLLM's shipped client, which knows no tokens, with a gateway that asks for none. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { createGateway } from "../../../src/gateway/index.ts";
import { createUpstream } from "../../../src/testing/index.ts";
import { pythonEnvironment } from "../python-environment.ts";

const packages = ["rllm-model-gateway==0.1.0"];

it("creates, calls, reads and deletes sessions", { timeout: 600_000 }, async () => {
  const python = pythonEnvironment({ name: "rllm-gateway", packages });
  await using upstream = await createUpstream({ script: ({ index }) => `said ${index}` });
  await using gateway = createGateway({
    target: { kind: "http", workers: [{ url: upstream.url }] },
    model: "scripted",
    open: true,
  });
  const { url } = await gateway.listen();
  const script = join(import.meta.dirname, "client.py");
  const { stdout } = await promisify(execFile)(python, [script, url]);
  expect(JSON.parse(stdout)).toMatchObject({
    health: "ok",
    before: null,
    asked: [200, 200, 200],
    unversioned: [null],
    session: "task/1:0",
    versions: [null, 7],
    said: ["said 0", "said 2"],
    one: true,
    info: 2,
    implicit: 1,
    sessions: ["implicit", "task/1:0"],
    deleted: 2,
  });
});
