/** Agents in containers: `docker run` for each rollout, and nothing of it left afterwards. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import type { AgentConfig, AgentFlowObject } from "../../../core/agent.ts";
import { AgentTrainerError } from "../../../core/errors.ts";
import { commandAgent } from "../command/command-agent.ts";
import type { CommandAgentOptions, CommandRollout } from "../command/command-options.ts";
import { guardEntry } from "../../../util/process/process-guard.ts";
import { runLimited } from "../../../util/process/limited-process.ts";
import { modelVariables } from "../process/model-variables.ts";

/**
 * Options of `dockerAgent`: the image, what it may use, and those of `commandAgent` that make sense in a
 * container.
 *
 * @example
 * const options: DockerAgentOptions = { image: "my-agent", memoryMb: 1024, cpus: 1 };
 */
export interface DockerAgentOptions<Metadata = Record<string, unknown>> extends Pick<
  CommandAgentOptions<Metadata>,
  "name" | "sideCalls" | "stdin" | "files" | "output" | "collect" | "timeoutMs" | "maxOutputBytes"
> {
  /** The image, which must be there or in a registry that `docker run` can pull from. */
  readonly image: string;
  /** The command in the container. @default the image's own */
  readonly command?: readonly string[];
  /** Network of the container; `host` reaches a gateway on loopback. @default Docker's own, `bridge` */
  readonly network?: string;
  /** Limit on its memory in MiB. @default none */
  readonly memoryMb?: number;
  /** Limit on its CPUs. @default none */
  readonly cpus?: number;
  /** Limit on its processes. @default 512 */
  readonly maxProcesses?: number;
  /** Environment variables in the container, in addition to those of the model and the task. @default {} */
  readonly env?: Readonly<Record<string, string>>;
  /** Further arguments of `docker run`, such as `--read-only`. @default [] */
  readonly runArgs?: readonly string[];
  /** The program; `podman` takes the same arguments. @default "docker" */
  readonly program?: string;
}

const removeMs = 30_000;
const ofDocker = "DOCKER_HOST DOCKER_CONTEXT DOCKER_TLS_VERIFY DOCKER_CERT_PATH XDG_RUNTIME_DIR";

/**
 * An agent in a container, one for each rollout: its working folder `/work` has `files` and is where
 * `collect` looks; its input, variables and answer are those of `commandAgent`. Keys are passed in the
 * environment, never as arguments. A container reaches the run's gateway where `gateway.host` and
 * `gateway.public_url` let it; see docs/command-agents.md. What a limit ends is removed with `docker rm`.
 *
 * @example
 * const agentFlow = dockerAgent({ image: "my-agent", command: ["python", "agent.py"], memoryMb: 1024 });
 */
export function dockerAgent<Metadata = Record<string, unknown>>(
  options: DockerAgentOptions<Metadata>,
): AgentFlowObject<Metadata> {
  const { image, command = [], network, memoryMb, cpus, maxProcesses = 512 } = options;
  const { env = {}, runArgs = [], program = "docker", ...common } = options;
  const { name, sideCalls, stdin, files, output, collect, timeoutMs, maxOutputBytes } = common;
  const kept = { name, sideCalls, stdin, files, output, collect, timeoutMs, maxOutputBytes };
  const present = Object.fromEntries(
    Object.entries(kept).filter(([, value]) => value !== undefined),
  );
  return {
    ...(name === undefined ? {} : { name }),
    ...(sideCalls === undefined ? {} : { sideCalls }),
    run: async (task, config) => {
      requireReachable(config, network);
      const container = `agent-trainer-${randomUUID()}`;
      const run = ({ folders }: CommandRollout<Metadata>): readonly string[] => [
        program,
        "run",
        "--rm",
        "--interactive",
        "--init",
        "--name",
        container,
        "--volume",
        `${folders.work}:/work`,
        "--workdir",
        "/work",
        "--pids-limit",
        String(maxProcesses),
        // podman has this name in every container, and before 4.7 does not know host-gateway.
        ...(basename(program).startsWith("podman")
          ? []
          : ["--add-host", "host.docker.internal:host-gateway"]),
        ...(network === undefined ? [] : ["--network", network]),
        ...(memoryMb === undefined ? [] : ["--memory", `${memoryMb}m`]),
        ...(cpus === undefined ? [] : ["--cpus", String(cpus)]),
        ...variableNames(config, env).flatMap((variable) => ["--env", variable]),
        ...runArgs,
        image,
        ...command,
      ];
      const inner = commandAgent<Metadata>({
        ...(present as Partial<CommandAgentOptions<Metadata>>),
        command: run,
        env: { ...clientConfig(), ...env },
        passEnv: ofDocker.split(" "),
      });
      // The end of the client does not end a container.
      const argv = [program, "rm", "--force", container];
      const release = guardEntry({ argv });
      try {
        return await inner.run(task, config);
      } catch (error) {
        await runLimited(
          { argv, cwd: process.cwd(), env: process.env },
          { timeoutMs: removeMs },
        ).catch(() => {});
        throw error;
      } finally {
        release();
      }
    },
  };
}

/** Credentials of the user, whose home folder an agent does not have; podman fails where there are none. */
function clientConfig(): Readonly<Record<string, string>> {
  const folder = process.env["DOCKER_CONFIG"] ?? join(homedir(), ".docker");
  return existsSync(join(folder, "config.json")) ? { DOCKER_CONFIG: folder } : {};
}

const variableNames = (config: AgentConfig, env: object): readonly string[] => [
  ...Object.keys(modelVariables(config)),
  "AGENT_TRAINER_TASK",
  "AGENT_TRAINER_SESSION",
  ...Object.keys(env),
];

function requireReachable({ baseUrl }: AgentConfig, network: string | undefined): void {
  const { hostname } = new URL(baseUrl);
  if (network === "host" || !/^(?:localhost|127\..*|\[::1\])$/u.test(hostname)) return;
  throw new AgentTrainerError({
    code: "ROLLOUT_FAILED",
    message: `The run's gateway is at ${hostname}, which in a container is the container itself.`,
    hint: 'Set gateway.host=0.0.0.0, gateway.port=8123 and gateway.public_url=http://host.docker.internal:8123, or network: "host" on Linux.',
    fields: { baseUrl, network },
  });
}
