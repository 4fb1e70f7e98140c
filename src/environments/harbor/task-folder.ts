/** A task folder of Harbor: task.toml, instructions, steps. Only reads; https://www.harborframework.com has the format. */
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { z } from "zod";
import { environmentError } from "../episode/environment-error.ts";

const seconds = z.number().gt(0);
const user = z.union([z.string(), z.int()]).nullish();
const variables = z.record(z.string(), z.string()).default({});

const verifier = z
  .looseObject({
    timeout_sec: seconds.default(600),
    env: variables,
    user,
    environment_mode: z.string().nullish(),
    environment: z.unknown().optional(),
  })
  .prefault({});
const step = z.looseObject({
  name: z.string().regex(/^[^/\\]+$/u),
  verifier,
  min_reward: z.union([z.number(), z.record(z.string(), z.number())]).nullish(),
});
const taskToml = z.looseObject({
  metadata: z.record(z.string(), z.unknown()).default({}),
  agent: z.looseObject({ user }).prefault({}),
  verifier,
  environment: z
    .looseObject({
      build_timeout_sec: seconds.default(600),
      docker_image: z.string().nullish(),
      os: z.string().nullish(),
      cpus: z.number().nullish(),
      memory_mb: z.number().nullish(),
      env: variables,
      workdir: z.string().nullish(),
      network_mode: z.enum(["no-network", "public", "allowlist"]).nullish(),
      allow_internet: z.boolean().nullish(),
      mcp_servers: z.array(z.unknown()).nullish(),
    })
    .prefault({}),
  steps: z.array(step).nullish(),
  multi_step_reward_strategy: z.enum(["mean", "final"]).nullish(),
});

type Optional<T> = T | null | undefined;
type User = Optional<string | number>;

/** How one step, or a task without steps, is scored. */
interface HarborVerifier {
  readonly timeout_sec: number;
  readonly env: Record<string, string>;
  readonly user?: User;
  readonly environment_mode?: Optional<string>;
  readonly environment?: unknown;
}

/** `task.toml`, with defaults. */
interface HarborConfig {
  readonly metadata: Record<string, unknown>;
  readonly agent: { readonly user?: User };
  readonly verifier: HarborVerifier;
  readonly environment: {
    readonly build_timeout_sec: number;
    readonly docker_image?: Optional<string>;
    readonly os?: Optional<string>;
    readonly cpus?: Optional<number>;
    readonly memory_mb?: Optional<number>;
    readonly env: Record<string, string>;
    readonly workdir?: Optional<string>;
    readonly network_mode?: Optional<"no-network" | "public" | "allowlist">;
    readonly allow_internet?: Optional<boolean>;
    readonly mcp_servers?: Optional<unknown[]>;
  };
  readonly steps?: Optional<
    {
      readonly name: string;
      readonly verifier: HarborVerifier;
      readonly min_reward?: Optional<number | Record<string, number>>;
    }[]
  >;
  readonly multi_step_reward_strategy?: Optional<"mean" | "final">;
}

/** One instruction and its tests. */
export interface HarborStep {
  /** null for a task without steps. */
  readonly name: string | null;
  readonly instruction: string;
  readonly verifier: HarborVerifier;
  /** Folders whose files are `/tests`, later ones over earlier ones. */
  readonly tests: readonly string[];
  /** Files for the working folder before the step begins; null without. */
  readonly files: string | null;
  /** The smallest rewards with which the next step begins, by their names. */
  readonly minReward: Readonly<Record<string, number>>;
}

/** A task, as it is on disk. */
export interface HarborTask {
  readonly folder: string;
  readonly config: HarborConfig;
  readonly steps: readonly HarborStep[];
  /** Variables of this process that it may read. */
  readonly passEnv: readonly string[];
}

/** Whether a folder is a task. */
const isTaskFolder = (folder: string): boolean => existsSync(join(folder, "task.toml"));

/** The task folders in `folder`, by name; itself where it is one. */
export async function findTaskFolders(folder: string): Promise<readonly string[]> {
  if (isTaskFolder(folder)) return [resolve(folder)];
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => !entry.isFile() && isTaskFolder(join(folder, entry.name)))
    .map(({ name }) => resolve(folder, name))
    .toSorted();
}

/** @throws AgentTrainerError (`ENVIRONMENT_FAILED`) for a folder that is no task, or one that cannot be run here. */
export async function readTaskFolder(
  folder: string,
  passEnv: readonly string[],
): Promise<HarborTask> {
  const fail = (what: string, cause?: unknown): Error =>
    environmentError(`The task ${folder} ${what}`, { isFinal: true, cause, fields: { folder } });
  const text = await readFile(join(folder, "task.toml"), "utf8").catch((error: unknown) => {
    throw fail("has no task.toml that can be read.", error);
  });
  const { parse } = await import("smol-toml");
  const config = ((): HarborConfig => {
    try {
      return taskToml.parse(parse(text));
    } catch (error) {
      const what = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
      throw fail(`has a wrong task.toml: ${what}`, error);
    }
  })();
  const { os, network_mode, mcp_servers } = config.environment;
  const refused = [
    typeof os === "string" && os.toLowerCase() !== "linux" ? `os = "${os}"` : null,
    network_mode === "allowlist" ? 'network_mode = "allowlist"' : null,
    (mcp_servers ?? []).length > 0 ? "mcp_servers" : null,
    isSeparate(config.verifier) || (config.steps ?? []).some((one) => isSeparate(one.verifier))
      ? "a verifier with a separate environment"
      : null,
    existsSync(join(folder, "environment", "docker-compose.yaml")) ? "docker-compose.yaml" : null,
  ].filter((one) => one !== null);
  if (refused.length > 0) throw fail(`needs what is not supported: ${refused.join(", ")}.`);
  const instructionIn = async (at: string): Promise<string> =>
    await readFile(join(at, "instruction.md"), "utf8").catch((error: unknown) => {
      throw fail(`has no ${join(at, "instruction.md")}.`, error);
    });
  const shared = join(folder, "tests");
  const steps = await Promise.all(
    (config.steps ?? [null]).map(async (one): Promise<HarborStep> => {
      const at = one === null ? folder : join(folder, "steps", one.name);
      const own = one === null ? [] : [join(at, "tests")];
      const tests = [shared, ...own].filter((path) => existsSync(path));
      if (!tests.some((path) => existsSync(join(path, "test.sh")))) throw fail("has no test.sh.");
      const files = join(at, "workdir");
      const least = one?.min_reward ?? {};
      return {
        name: one?.name ?? null,
        instruction: await instructionIn(at),
        verifier: one?.verifier ?? config.verifier,
        tests,
        files: one !== null && (await isFolder(files)) ? files : null,
        minReward: typeof least === "number" ? { reward: least } : least,
      };
    }),
  );
  return { folder, config, steps, passEnv };
}

const isSeparate = ({ environment_mode, environment }: HarborVerifier): boolean =>
  environment_mode === "separate" || (environment !== undefined && environment !== null);

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => null))?.isDirectory() === true;

/** Name of a task in messages and ids. */
export const taskName = (folder: string): string => basename(folder);

/**
 * `${NAME}` and `${NAME:-default}` from this process's environment, as far as the task may read it.
 * @throws AgentTrainerError for a variable that it may not read, or that is not set.
 */
export function resolveVariables(
  given: Readonly<Record<string, string>>,
  passEnv: readonly string[],
): Readonly<Record<string, string>> {
  const refuse = (name: string, why: string, hint: string): never => {
    throw environmentError(`The task needs the environment variable ${name}, ${why}.`, {
      isFinal: true,
      hint,
      fields: { name, passEnv },
    });
  };
  const resolveOne = (text: string): string =>
    text.replaceAll(/\$\{(\w+)(?::-([^}]*))?\}/gu, (_all, name: string, fallback?: string) => {
      const value = process.env[name];
      if (value === undefined) {
        return fallback ?? refuse(name, "which is not set", `Set it: export ${name}=...`);
      }
      if (passEnv.includes(name)) return value;
      const allowed = passEnv.length === 0 ? "none is" : `only ${passEnv.join(", ")} is`;
      const why = `which it may not read: ${allowed} allowed`;
      return refuse(
        name,
        why,
        `If the task is to have its value, write harbor:FOLDER?pass_env=${[...passEnv, name].join(",")}`,
      );
    });
  return Object.fromEntries(Object.entries(given).map(([name, text]) => [name, resolveOne(text)]));
}
