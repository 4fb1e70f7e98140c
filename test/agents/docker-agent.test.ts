/** What `docker` is told, recorded by a program of that name; no container is started. */
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dockerAgent } from "../../src/rollouts/agents/docker/docker-agent.ts";
import { runThroughGateway } from "../rollout/gateway-run.ts";

/** A `docker` that writes its arguments and environment down, then does as `then` says. */
function recorder(then: string): { program: string; calls: () => Record<string, never>[] } {
  const folder = mkdtempSync(join(tmpdir(), "docker-"));
  const program = join(folder, "docker");
  const log = join(folder, "calls.jsonl");
  writeFileSync(
    program,
    `#!${process.execPath}
const { appendFileSync, readFileSync, writeFileSync } = require("node:fs");
const [, , ...args] = process.argv;
const input = args[0] === "run" ? readFileSync(0, "utf8") : "";
appendFileSync(${JSON.stringify(log)}, JSON.stringify({ args, env: process.env, input }) + "\\n");
const work = args[args.indexOf("--volume") + 1]?.split(":")[0];
if (args[0] === "run") { ${then} }
`,
  );
  chmodSync(program, 0o755);
  const calls = () =>
    readFileSync(log, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, never>);
  return { program, calls };
}

describe("an agent in a container", () => {
  it("gets its limits as arguments, and its keys in the environment only", async () => {
    const { program, calls } = recorder(
      'writeFileSync(work + "/out.txt", readFileSync(work + "/in.txt")); console.log("answer");',
    );
    const { episode } = await runThroughGateway({
      flow: dockerAgent({
        program,
        image: "my-agent",
        command: ["python", "agent.py"],
        network: "host",
        memoryMb: 512,
        cpus: 2,
        env: { MODE: "train" },
        runArgs: ["--read-only"],
        files: { "in.txt": "given" },
        collect: ["out.txt"],
      }),
    });
    expect(episode.output).toBe("answer");
    expect(episode.metadata).toMatchObject({ files: { "out.txt": "given" } });
    const [run, ...others] = calls();
    expect(others).toEqual([]);
    const { args, env, input } = run as unknown as {
      args: string[];
      env: Record<string, string>;
      input: string;
    };
    expect(args.join(" ")).toMatch(
      /^run --rm --interactive --init --name agent-trainer-[\w-]+ --volume \S+\/work:\/work --workdir \/work --pids-limit 512 --add-host host\.docker\.internal:host-gateway --network host --memory 512m --cpus 2 (?:--env \w+ )+--read-only my-agent python agent\.py$/u,
    );
    const passed = args.filter((_, i) => args[i - 1] === "--env");
    expect(passed).toEqual(
      expect.arrayContaining(["OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "MODE"]),
    );
    expect(passed.filter((name) => env[name] === undefined)).toEqual([]);
    expect(args.join(" ")).not.toContain(env["OPENAI_API_KEY"]);
    expect(JSON.parse(input)).toMatchObject({ task: { id: "a" } });
  });

  it.skipIf(process.platform === "win32")(
    "collects regular files only: no link leads out of the container, and nothing waits for a pipe",
    async () => {
      const outside = mkdtempSync(join(tmpdir(), "docker-outside-"));
      writeFileSync(join(outside, "secret.txt"), "of this machine");
      const { program } = recorder(`
        const { execFileSync } = require("node:child_process");
        const { linkSync, mkdirSync, symlinkSync } = require("node:fs");
        const at = (name) => work + "/" + name;
        symlinkSync(${JSON.stringify(join(outside, "secret.txt"))}, at("answer.txt"));
        symlinkSync(${JSON.stringify(outside)}, at("folder"));
        symlinkSync("/dev/zero", at("zero"));
        symlinkSync("plain.txt", at("near"));
        execFileSync("mkfifo", [at("pipe")]);
        mkdirSync(at("deep"));
        writeFileSync(at("deep/plain.txt"), "of the agent");
        writeFileSync(at("plain.txt"), "of the agent");
      `);
      const collect = "answer.txt folder/secret.txt zero near pipe deep deep/plain.txt plain.txt";
      const { episode } = await runThroughGateway({
        flow: dockerAgent({
          program,
          image: "my-agent",
          network: "host",
          collect: [...collect.split(" "), "deep/../plain.txt/x"],
        }),
      });
      expect(episode.error).toBeUndefined();
      expect(episode.metadata["files"]).toEqual({
        "deep/plain.txt": "of the agent",
        "plain.txt": "of the agent",
      });
    },
  );

  it("reads no more of a file than its limit", async () => {
    const { program } = recorder('writeFileSync(work + "/big.txt", "x".repeat(200_001));');
    const { episode } = await runThroughGateway({
      flow: dockerAgent({
        program,
        image: "my-agent",
        network: "host",
        collect: ["big.txt"],
        maxOutputBytes: 200_000,
      }),
    });
    expect(episode.error!.message).toContain("larger than 200000 bytes at big.txt");
  });

  it("is removed where it failed", async () => {
    const { program, calls } = recorder('console.error("bad"); process.exit(2);');
    const { episode } = await runThroughGateway({
      flow: dockerAgent({ program, image: "my-agent", network: "host" }),
    });
    expect(episode.error!.message).toContain("exit status 2. Its last lines:\nbad");
    const [run, remove] = calls() as unknown as { args: string[] }[];
    const name = run!.args[run!.args.indexOf("--name") + 1];
    expect(remove!.args).toEqual(["rm", "--force", name]);
  });

  it("is not started where it could not reach the gateway", async () => {
    const { episode } = await runThroughGateway({ flow: dockerAgent({ image: "my-agent" }) });
    expect(episode).toMatchObject({ reward: null, error: { code: "ROLLOUT_FAILED" } });
    expect(episode.error!.hint).toContain("gateway.public_url=http://host.docker.internal:8123");
  });
});
