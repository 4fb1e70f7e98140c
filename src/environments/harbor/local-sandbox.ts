/**
 * Tasks with trivial images on this machine: in bubblewrap, which shows them the system's programs and the
 * task's own folders, or, where the user asks for it, in a temporary folder without any isolation.
 */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { shellQuote } from "../../util/shell-quote.ts";
import { runLimited } from "../../util/process/limited-process.ts";
import { environmentError } from "../episode/environment-error.ts";
import { readTrivialDockerfile, type FolderPlan } from "./dockerfile.ts";
import {
  maxOutputBytes,
  readCommand,
  type Sandbox,
  type SandboxCommand,
  type SandboxResult,
  taskPaths,
} from "./sandbox.ts";
import { type HarborTask, resolveVariables } from "./task-folder.ts";

const copyMs = 60_000;
/** Where bubblewrap shows a folder that is copied in. */
const shown = "/run/agent-trainer-files";

/** Folders of the system that bubblewrap shows, read-only. */
const systemFolders = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc"];

/** Programs find each other, and nothing of this process's environment is passed on. */
const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

async function planOf({ folder, config }: HarborTask): Promise<FolderPlan> {
  const file = join(folder, "environment", "Dockerfile");
  const text = existsSync(file) ? await readFile(file, "utf8") : "";
  const read =
    (config.environment.docker_image ?? "")
      ? { needs: "docker_image" }
      : readTrivialDockerfile(text);
  if (!("needs" in read)) return read;
  throw environmentError(
    `The task ${folder} needs a container: its image has "${read.needs}", which cannot be made without one.`,
    { isFinal: true, hint: "Install Docker or podman.", fields: { folder, needs: read.needs } },
  );
}

/** @throws AgentTrainerError (`ENVIRONMENT_FAILED`) for a task whose image is not trivial. */
export async function openLocalSandbox(
  task: HarborTask,
  kind: "bubblewrap" | "folder",
): Promise<Sandbox> {
  const plan = await planOf(task);
  const root = await mkdtemp(join(tmpdir(), "agent-trainer-harbor-"));
  const at = (inside: string): string => join(root, inside);
  const workdir = task.config.environment.workdir ?? plan.workdir;
  for (const folder of [...taskPaths, workdir]) await mkdir(at(folder), { recursive: true });
  for (const { from, to } of plan.copies) {
    const source = join(task.folder, "environment", from);
    const isFolder = (await stat(source)).isDirectory();
    const target = at(to.endsWith("/") && !isFolder ? `${to}${from.split("/").at(-1)}` : to);
    await mkdir(dirname(target), { recursive: true });
    await cp(source, target, { recursive: true });
  }
  const env = { ...plan.env, ...resolveVariables(task.config.environment.env, task.passEnv) };
  const { network_mode, allow_internet } = task.config.environment;
  const hasNetwork = network_mode !== "no-network" && allow_internet !== false;
  const tops = await readdir(root);
  // Without namespaces, the paths of the task are those of the temporary folder.
  const moved = (text: string): string =>
    kind === "folder"
      ? text.replaceAll(
          new RegExp(`(?<![\\w./-])/(${tops.join("|")})(?=/|\\b)`, "gu"),
          (_all, top: string) => at(top),
        )
      : text;
  const bubblewrap = [
    "bwrap",
    "--die-with-parent",
    "--unshare-all",
    ...(hasNetwork ? ["--share-net"] : []),
    ...systemFolders.flatMap((one) => (existsSync(one) ? ["--ro-bind", one, one] : [])),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
    "--tmpfs",
    "/root",
    ...tops.flatMap((top) => ["--bind", at(top), `/${top}`]),
    "--chdir",
    workdir,
  ];
  const run = async (
    { command, env: own = {}, timeoutMs, signal }: SandboxCommand,
    binds: readonly string[] = [],
  ): Promise<SandboxResult> => {
    const shell = ["bash", "-c", `{ ${moved(command)}\n} 2>&1`];
    const end = await runLimited(
      {
        argv: kind === "bubblewrap" ? [...bubblewrap, ...binds, ...shell] : shell,
        cwd: at(workdir),
        env: {
          PATH: path,
          HOME: kind === "folder" ? at(workdir) : "/root",
          LANG: "C.UTF-8",
          ...env,
          ...own,
        },
        endsAll: kind === "folder",
      },
      { timeoutMs, maxOutputBytes, signal },
    );
    signal.throwIfAborted();
    const ended = end.ended === "timeout" || end.ended === "output" ? end.ended : "exit";
    return { output: end.stdout + end.stderr, exitCode: end.exitCode, ended };
  };
  return {
    exec: async (command) => await run(command),
    async copyIn(folder, inside, signal) {
      const target = inside === "." ? workdir : inside;
      if (kind === "folder") {
        await cp(folder, at(target), { recursive: true });
        await moveScripts(at(target), moved);
        return;
      }
      // Inside, where a link that the agent left cannot lead to a file of this machine.
      const command = `cp -RL ${shown}/. ${shellQuote(target)}`;
      const end = await run({ command, timeoutMs: copyMs, signal }, ["--ro-bind", folder, shown]);
      if (end.exitCode === 0) return;
      throw environmentError(`${folder} cannot be copied to ${target}: ${end.output.slice(-500)}`);
    },
    async read(inside, signal) {
      const command = readCommand(inside);
      const { exitCode, output } = await run({ command, timeoutMs: copyMs, signal });
      return exitCode === 0 ? output : null;
    },
    close: async () => await rm(root, { recursive: true, force: true }),
  };
}

/** Paths in scripts of a folder, which would otherwise be those of this machine. */
async function moveScripts(folder: string, moved: (text: string) => string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !/\.(?:sh|py)$/u.test(entry.name)) continue;
    const file = join(entry.parentPath, entry.name);
    // oxlint-disable-next-line no-await-in-loop
    await writeFile(file, moved(await readFile(file, "utf8")));
  }
}
