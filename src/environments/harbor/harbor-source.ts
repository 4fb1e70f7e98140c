/** Task folders of Harbor as an environment: each episode in a separate container. */
import { existsSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type {
  EnvironmentEpisode,
  EnvironmentSource,
  OpenEpisode,
  TaskRange,
} from "../../core/environment.ts";
import { ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import { environmentError } from "../episode/environment-error.ts";
import { findContainerProgram, type ImageCache, openContainer } from "./container.ts";
import { HarborEpisode } from "./harbor-episode.ts";
import { findTaskFolders, readTaskFolder, resolveVariables } from "./task-folder.ts";

/** Options of a folder of Harbor tasks. */
export interface HarborOptions {
  /** A task folder, a folder of task folders, or one with such a folder for each split. */
  readonly folder: string;
  /**
   * Variables of this process that `${NAME}` in a task.toml may read: what a task reads, its commands and
   * its tests can send anywhere.
   * @default none
   */
  readonly passEnv?: readonly string[];
  /** Limit of the tests in milliseconds, where the task allows more. @default 300000 */
  readonly callTimeoutMs?: number;
}

const commandTimeoutMs = 120_000;

/** Tasks of Harbor on disk. */
export class HarborSource implements EnvironmentSource {
  readonly name: string;
  readonly #options: HarborOptions;
  readonly #folder: string;
  readonly #passEnv: readonly string[];
  readonly #images: ImageCache = new Map();
  #program: Promise<string> | null = null;

  constructor(options: HarborOptions) {
    this.#options = options;
    this.#folder = resolve(options.folder);
    this.name = `harbor:${options.folder}`;
    this.#passEnv = options.passEnv ?? [];
    if (!existsSync(this.#folder) || !statSync(this.#folder).isDirectory()) {
      throw new ConfigError({
        message: `${this.name} names ${this.#folder}, which is not a folder.`,
        hint: "Write harbor:FOLDER with a folder of Harbor tasks.",
        fields: { folder: this.#folder },
      });
    }
  }

  async *tasks(
    split: string,
    { start = 0, stop = Infinity }: TaskRange = {},
  ): AsyncGenerator<Task> {
    const own = join(this.#folder, split);
    const isSplit = existsSync(own) && statSync(own).isDirectory();
    if (!isSplit && split !== "train") {
      throw environmentError(`${this.name} has no split "${split}": there is no folder ${own}.`, {
        isFinal: true,
        hint: "Make a folder for each split, or leave environment.val_split unset.",
        fields: { split },
      });
    }
    const folders = await findTaskFolders(isSplit ? own : this.#folder);
    if (folders.length === 0) {
      throw environmentError(
        `${isSplit ? own : this.#folder} holds no task folder with a task.toml.`,
        {
          isFinal: true,
        },
      );
    }
    for (const folder of folders.slice(start, stop)) {
      // oxlint-disable-next-line no-await-in-loop
      const { steps, config } = await readTaskFolder(folder, this.#passEnv);
      yield {
        id: `${split}/${relative(isSplit ? own : this.#folder, folder) || "task"}`,
        instruction: steps[0]?.instruction ?? "",
        metadata: { ...config.metadata, harbor: { folder } },
      };
    }
  }

  async open(task: Task, { signal }: OpenEpisode): Promise<EnvironmentEpisode> {
    const { folder } = (task.metadata["harbor"] ?? {}) as { readonly folder?: string };
    if (folder === undefined) {
      throw environmentError(
        `Task "${task.id}" is not one of ${this.name}: it has no metadata.harbor.`,
        { isFinal: true, hint: "Take the tasks from the environment: remove dataset.train." },
      );
    }
    const read = await readTaskFolder(folder, this.#passEnv);
    // Not only after the episode, when the tests begin.
    for (const { verifier } of read.steps) resolveVariables(verifier.env, this.#passEnv);
    this.#program ??= this.#findProgram(signal);
    this.#program.catch(() => (this.#program = null));
    const container = await openContainer(await this.#program, read, this.#images, signal);
    try {
      const { callTimeoutMs = 300_000 } = this.#options;
      // Limits of the container end before that of the call, which would fail the attempt.
      const verifierTimeoutMs = callTimeoutMs * 0.9;
      const limits = {
        commandTimeoutMs: Math.min(commandTimeoutMs, verifierTimeoutMs),
        verifierTimeoutMs,
      };
      return await HarborEpisode.begin(read, container, limits, signal);
    } catch (error) {
      await container.close().catch(() => {});
      throw error;
    }
  }

  async #findProgram(signal: AbortSignal): Promise<string> {
    const program = await findContainerProgram(signal);
    if (program !== null) return program;
    throw environmentError(
      `${this.name} cannot run its tasks: neither docker nor podman works here.`,
      {
        isFinal: true,
        hint: "Start Docker, or install podman: docker info or podman info must succeed.",
      },
    );
  }
}
