/** Tasks in containers of Docker or podman, whose command lines are the same: an image per task, a container per episode. */
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { guardEntry } from "../../util/process/process-guard.ts";
import { type ProcessEnd, runLimited } from "../../util/process/limited-process.ts";
import { environmentError } from "../episode/environment-error.ts";
import { type HarborTask, resolveVariables, taskName } from "./task-folder.ts";

/** The programs that can run containers, the preferred one first. */
const programs = ["docker", "podman"] as const;

/** A command and its limits. */
interface ContainerCommand {
  readonly command: string;
  readonly env?: Readonly<Record<string, string>>;
  /** @default the user of the task's agent, or else the image's */
  readonly user?: string | number | null | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** How a command ended. */
export interface CommandResult {
  /** Both outputs, in one text. */
  readonly output: string;
  /** null where a limit ended it. */
  readonly exitCode: number | null;
  readonly ended: "exit" | "timeout" | "output";
}

/** The machine of one episode. */
export interface Container {
  /** Runs in the working folder of the task. */
  exec(command: ContainerCommand): Promise<CommandResult>;
  /** Copies the files of a folder of this machine over an absolute path, or ".", the working folder. */
  copyIn(folder: string, path: string, signal: AbortSignal): Promise<void>;
  /** A text file; null where there is none. At most a mebibyte is read. `path` is plain, with nothing of a shell. */
  read(path: string, signal: AbortSignal): Promise<string | null>;
  /** Removes it with all that runs in it. */
  close(): Promise<void>;
}

/** Output of a command that is kept; more ends the command. */
const maxOutputBytes = 2 ** 20;

/** Folders that every task has. */
const taskPaths = ["/logs/agent", "/logs/verifier", "/logs/artifacts", "/tests"];

const clientMs = 60_000;

/** Images that were built, or are being built, by task folder. */
export type ImageCache = Map<string, Promise<string>>;

type Variables = Readonly<Record<string, string>>;

async function client(
  argv: readonly string[],
  timeoutMs: number,
  signal: AbortSignal,
  variables: Variables = {},
): Promise<ProcessEnd> {
  const end = await runLimited(
    { argv, cwd: tmpdir(), env: { ...variables, ...process.env } },
    { timeoutMs, maxOutputBytes: 16 * maxOutputBytes, signal },
  );
  signal.throwIfAborted();
  return end;
}

async function must(
  argv: readonly string[],
  timeoutMs: number,
  signal: AbortSignal,
  variables: Variables = {},
): Promise<string> {
  const end = await client(argv, timeoutMs, signal, variables);
  if (end.exitCode === 0) return end.stdout;
  const what = end.ended === "exit" ? end.stderr.trim().slice(-1500) : `it ended by ${end.ended}`;
  throw environmentError(`"${argv.slice(0, 3).join(" ")}" failed: ${what}`, {
    fields: { command: argv.join(" "), exitCode: end.exitCode },
  });
}

/** By name where the client's environment has the value, so that a key is in no command line, which every user can read. */
function variableFlags(variables: Variables): string[] {
  return Object.entries(variables).flatMap(([name, value]) => {
    const isOther = process.env[name] !== undefined && process.env[name] !== value;
    return ["--env", isOther ? `${name}=${value}` : name];
  });
}

/** The first program that is there and can start containers; null where there is none. */
export async function findContainerProgram(signal: AbortSignal): Promise<string | null> {
  for (const program of programs) {
    // oxlint-disable-next-line no-await-in-loop
    const works = await client([program, "info"], 20_000, signal).then(
      ({ exitCode }) => exitCode === 0,
      () => false,
    );
    signal.throwIfAborted();
    if (works) return program;
  }
  return null;
}

async function imageOf(
  program: string,
  { folder, config }: HarborTask,
  signal: AbortSignal,
): Promise<string> {
  const { docker_image: image, build_timeout_sec: limit } = config.environment;
  const context = join(folder, "environment");
  if (!existsSync(join(context, "Dockerfile"))) {
    if (image !== null && image !== undefined) return image;
    throw environmentError(
      `The task ${folder} has neither environment/Dockerfile nor docker_image.`,
      {
        isFinal: true,
      },
    );
  }
  const hash = createHash("sha256").update(folder).digest("hex").slice(0, 12);
  const tag = `agent-trainer-harbor-${taskName(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, "-")}-${hash}`;
  await must([program, "build", "--tag", tag, context], limit * 1000, signal);
  return tag;
}

/** @throws AgentTrainerError (`ENVIRONMENT_FAILED`) when the image cannot be built, or the container started. */
export async function openContainer(
  program: string,
  task: HarborTask,
  images: ImageCache,
  signal: AbortSignal,
): Promise<Container> {
  const { environment, agent } = task.config;
  const building = images.get(task.folder) ?? imageOf(program, task, signal);
  images.set(task.folder, building);
  // A failed build is not kept: the next episode builds again.
  building.catch(() => images.delete(task.folder));
  const image = await building;
  const container = `agent-trainer-${randomUUID()}`;
  const { memory_mb: memory, cpus, network_mode: mode, allow_internet: internet } = environment;
  const workdir = environment.workdir ?? null;
  const env = resolveVariables(environment.env, task.passEnv);
  const removal = [program, "rm", "--force", container];
  const release = guardEntry({ argv: removal });
  const remove = async (): Promise<void> => {
    await client(removal, clientMs, new AbortController().signal).catch(() => {});
    release();
  };
  const inside = (command: string): string[] => [program, "exec", container, "sh", "-c", command];
  try {
    await must(
      [
        program,
        "run",
        "--detach",
        "--init",
        "--name",
        container,
        "--pids-limit",
        "1024",
        ...(mode === "no-network" || internet === false ? ["--network", "none"] : []),
        ...(typeof memory === "number" ? ["--memory", `${memory}m`] : []),
        ...(typeof cpus === "number" ? ["--cpus", String(cpus)] : []),
        ...(workdir === null ? [] : ["--workdir", workdir]),
        ...variableFlags(env),
        "--entrypoint",
        "sh",
        image,
        "-c",
        "while :; do sleep 3600; done",
      ],
      10 * clientMs,
      signal,
      env,
    );
    const folders = taskPaths.join(" ");
    await must(inside(`mkdir -p ${folders} && chmod 777 ${folders}`), clientMs, signal);
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    async exec({ command, env: own = {}, user, timeoutMs, signal: mine }: ContainerCommand) {
      const as = user ?? agent.user ?? null;
      const end = await client(
        [
          program,
          "exec",
          ...(as === null ? [] : ["--user", String(as)]),
          ...variableFlags(own),
          container,
          "timeout",
          "-k",
          "5",
          String(Math.ceil(timeoutMs / 1e3)),
          "sh",
          "-c",
          `if command -v bash >/dev/null; then exec bash -c "$1" 2>&1; else exec sh -c "$1" 2>&1; fi`,
          "sh",
          command,
        ],
        timeoutMs + 10_000,
        mine,
        own,
      );
      const ended =
        end.ended === "output"
          ? "output"
          : end.ended === "timeout" || end.exitCode === 124
            ? "timeout"
            : "exit";
      return {
        output: (end.stdout + end.stderr).slice(0, maxOutputBytes),
        exitCode: end.exitCode,
        ended,
      };
    },
    async copyIn(folder, path, mine) {
      const target =
        path === "."
          ? (await must([program, "exec", container, "pwd"], clientMs, mine)).trim()
          : path;
      await must([program, "cp", `${folder}/.`, `${container}:${target}`], clientMs, mine);
    },
    async read(path, mine) {
      // Inside, where a link that the agent left cannot lead to a file of this machine.
      const command = `[ -f ${path} ] && head -c ${maxOutputBytes - 1} ${path}`;
      const end = await client(inside(command), clientMs, mine);
      return end.exitCode === 0 ? end.stdout : null;
    },
    close: remove,
  };
}
