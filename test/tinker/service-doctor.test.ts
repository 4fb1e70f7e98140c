/** `agent-trainer doctor service`: what it finds on our server, and on one that does much of it otherwise. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { runCli } from "../../src/cli/program.ts";
import { formatServiceReport, trainingOn } from "../../src/cli/commands/doctor-service.ts";
import { inspectService, type ServiceReport } from "../../src/cli/service/inspect-service.ts";
import { colorsFor } from "../../src/cli/terminal/terminal.ts";
import { liveSnapshots, wrongServer } from "./altered-servers.ts";
import { fetchOf, startServer, token, type Fetch, type LocalServer } from "./local-server.ts";

let local: LocalServer;
let url: string;
beforeAll(async () => {
  local = await startServer();
  url = await local.server.listen();
});
afterAll(() => local[Symbol.asyncDispose]());

interface Written {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function cli(...args: string[]): Promise<Written> {
  let out = "";
  let err = "";
  const code = await runCli(["doctor", "service", ...args], {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  return { code, out, err };
}

function inspect(fetch: Fetch, only: readonly string[]): Promise<ServiceReport> {
  const client = { baseUrl: "http://tinker.test", apiKey: token, fetch };
  return inspectService({ client, only, rank: 4, signal: new AbortController().signal });
}

const verdicts = ({ findings }: ServiceReport): Record<string, string> =>
  Object.fromEntries(findings.map(({ name, verdict }) => [name, verdict]));

it("finds that our server does all that the service documents", async () => {
  const { code, out } = await cli(url, "--key", token, "--json");
  const report = JSON.parse(out) as ServiceReport & { readonly training: string };
  expect(report).toMatchObject({ url, baseModel: "shop-tiny", training: "asynchronous" });
  expect(report.findings.filter(({ verdict }) => verdict !== "yes")).toEqual([]);
  expect(report.findings.length).toBeGreaterThan(30);
  expect(code).toBe(0);
});

it("names what a server averages, ignores and lacks", async () => {
  const server = wrongServer(fetchOf(local.server));
  const report = await inspect(server, [
    "GET checkpoints",
    "cross_entropy",
    "ppo",
    "weights with policy losses",
    "eps",
    "grad_clip_norm",
    "seed",
    "top_k 1",
    "stop tokens",
    "topk_prompt_logprobs",
  ]);
  expect(verdicts(report)).toEqual({
    "GET checkpoints": "no",
    cross_entropy: "differs",
    ppo: "differs",
    "weights with policy losses": "no",
    eps: "yes",
    grad_clip_norm: "no",
    seed: "no",
    "top_k 1": "no",
    "stop tokens": "no",
    topk_prompt_logprobs: "no",
  });
  const table = formatServiceReport(report, colorsFor({ write: () => undefined }));
  expect(table).toContain("divided by the number of sequences");
  expect(table).toContain("clips at its own bounds of 0.8 and 1.2, though 0.85 and 1.1 were sent");
  expect(table).toContain("backend=tinker can train on this server, synchronously and");
});

it("tells a server whose snapshots follow the trained weights", async () => {
  const report = await inspect(liveSnapshots(fetchOf(local.server)), ["keep their weights"]);
  expect(verdicts(report)).toEqual({ "keep their weights": "no" });
  expect(report.findings[0]!.detail).toContain("snapshots follow the weights that are trained");
  expect(trainingOn(report)).toBe("synchronous");
});

it("does not listen a second time, which would lose the first socket", async () => {
  await expect(local.server.listen()).rejects.toThrow("The server listens already.");
});

it("says what is wrong where there is nothing to probe", async () => {
  expect(await cli("not-a-url")).toMatchObject({
    code: 2,
    err: expect.stringContaining('"not-a-url" is not the URL of a server') as string,
  });
  expect(await cli(url, "--key", "tml-wrong")).toMatchObject({
    code: 1,
    err: expect.stringContaining("status 401") as string,
  });
  // Nothing listens on this port of the loopback interface.
  expect(await cli("http://127.0.0.1:1", "--key", "tml-any")).toMatchObject({
    code: 1,
    err: expect.stringContaining("had no response after 1 tries") as string,
  });
  expect((await cli("--help")).out).toContain("The probes create a LoRA adapter");
});
