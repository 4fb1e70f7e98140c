/**
 * The folder of an evaluation: `evaluation.json` (what was evaluated, and how), `results.jsonl` and
 * `episodes.jsonl` (a line per attempt, appended as it ends), and `summary.json`.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { AgentTrainerError, ConfigError } from "../../core/errors.ts";
import { namingFile } from "../../core/file-error.ts";
import type { Episode } from "../../core/trajectory.ts";
import { appendLines, cutLines } from "../json-lines.ts";
import { lockRun } from "../run-lock.ts";
import { writeFileAtomicSync } from "../../util/files/atomic-write.ts";
import { type EvaluationItem, isUnmeasured, itemKey } from "./evaluation-item.ts";
import type { EvaluationSummary } from "./summary.ts";

/** What decides the results of an evaluation; a resumed one must have the same. */
export interface EvaluationSettings {
  readonly model: string;
  readonly n: number;
  readonly seed: number;
  readonly sampling: Readonly<Record<string, number>>;
  readonly failureReward: number;
  /** Minimum reward of a correct attempt that is scored with a plain number; null = from 1 on. */
  readonly solvedReward: number | null;
  /** Number of tasks, and a hash of their ids and instructions. */
  readonly tasks: number;
  readonly dataHash: string;
}

const format = "agent-trainer/evaluation/1";
const names = {
  settings: "evaluation.json",
  results: "results.jsonl",
  episodes: "episodes.jsonl",
  summary: "summary.json",
} as const;

/** Whether the folder holds an evaluation. */
export const isEvaluation = (folder: string): boolean => existsSync(join(folder, names.settings));

/** Path of the recorded episodes of an evaluation. */
export const episodesFile = (folder: string): string => join(folder, names.episodes);

/** An evaluation that is being written; disposing closes its files. */
export interface EvaluationFolder extends Disposable {
  /** Attempts of an earlier process that need not be repeated. */
  readonly done: readonly EvaluationItem[];
  readonly warnings: readonly string[];
  /** Removes what this evaluation wrote, where it came to nothing, so that its folder can be used again. */
  discard(): void;
  add(item: EvaluationItem, episode: Episode): void;
  summarize(summary: EvaluationSummary): void;
}

function readSettings(folder: string): EvaluationSettings {
  const path = join(folder, names.settings);
  const damaged = (what: string, cause?: unknown): ConfigError =>
    new ConfigError({
      message: `${path} cannot be used: ${what}.`,
      hint: "Give the folder of an evaluation, or start a new one.",
      cause,
      fields: { path },
    });
  if (!existsSync(path)) throw damaged("it does not exist");
  let content: { readonly format?: unknown } & EvaluationSettings;
  try {
    content = JSON.parse(readFileSync(path, "utf8")) as typeof content;
  } catch (error) {
    throw damaged("it is not valid JSON", error);
  }
  if (content.format === format) return content;
  throw damaged(`its format is ${JSON.stringify(content.format)}, not "${format}"`);
}

function checkSame(folder: string, settings: EvaluationSettings): void {
  const before = readSettings(folder);
  const differing = (Object.keys(settings) as (keyof EvaluationSettings)[]).filter(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(settings[key]),
  );
  if (differing.length === 0) return;
  const changes = differing.map(
    (key) => `${key} was ${JSON.stringify(before[key])} and is ${JSON.stringify(settings[key])}`,
  );
  throw new ConfigError({
    message: `The evaluation in ${folder} cannot be resumed with other settings: ${changes.join("; ")}.`,
    hint: "Use the same settings, or start a new evaluation in another folder.",
    fields: { folder, differing },
  });
}

/** Whether a value has what every reader of an item needs. */
function isItem(value: unknown): value is EvaluationItem {
  if (typeof value !== "object" || value === null) return false;
  const { id, attempt, episodeId, metrics, signals, usage } = value as Partial<EvaluationItem>;
  const isMap = (part: unknown): boolean => typeof part === "object" && part !== null;
  return (
    typeof id === "string" &&
    typeof attempt === "number" &&
    typeof episodeId === "string" &&
    [metrics, signals, usage].every(isMap)
  );
}

/** Keeps what was measured, once each; the rest runs again. */
function keepDone(folder: string): Pick<EvaluationFolder, "done" | "warnings"> {
  const done: EvaluationItem[] = [];
  const seen = new Set<string>();
  const path = join(folder, names.results);
  const damaged = cutLines(path, (value) => {
    const item: unknown = value;
    if (!isItem(item)) return null;
    if (isUnmeasured(item) || seen.has(itemKey(item))) return false;
    seen.add(itemKey(item));
    done.push(item);
    return true;
  });
  const ids = new Set(done.map(({ episodeId }) => episodeId));
  cutLines(join(folder, names.episodes), ({ id }) => typeof id === "string" && ids.has(id));
  const warnings = damaged.map(
    ({ line, temporary }) =>
      `${path}:${line} is damaged: it was moved to ${temporary}, and its attempt runs again.`,
  );
  return { done, warnings };
}

/** @throws AgentTrainerError RUN_LOCKED */
function lock(path: string): () => void {
  try {
    return lockRun(path);
  } catch (error) {
    if (!AgentTrainerError.isInstance(error) || error.code !== "RUN_LOCKED") throw error;
    throw new AgentTrainerError({
      code: "RUN_LOCKED",
      message: `Another process is using the folder of the evaluation, ${path}.`,
      hint: "Wait for it, or choose another folder.",
      cause: error,
      fields: error.fields,
    });
  }
}

/**
 * Opens a folder for a new evaluation, or to resume one.
 * @throws ConfigError when it already holds one, or one with other settings; RUN_LOCKED when it is in use.
 */
export function openEvaluationFolder(
  path: string,
  settings: EvaluationSettings,
  resume: boolean,
): EvaluationFolder {
  if (resume) checkSame(path, settings);
  else if (isEvaluation(path)) {
    throw new ConfigError({
      message: `The folder ${path} already holds an evaluation.`,
      hint: "Resume it with --resume (in code: resume: true), or choose another folder.",
      fields: { path },
    });
  }
  return namingFile({ path }, () => {
    mkdirSync(path, { recursive: true });
    const unlock = lock(path);
    try {
      const before = resume ? keepDone(path) : { done: [], warnings: [] };
      if (!resume) {
        const text = JSON.stringify({ format, ...settings }, null, 2);
        writeFileAtomicSync(join(path, names.settings), `${text}\n`);
      }
      const results = appendLines(join(path, names.results));
      const episodes = appendLines(join(path, names.episodes));
      const close = (): void => {
        try {
          results.close();
          episodes.close();
        } finally {
          unlock();
        }
      };
      return {
        ...before,
        add(item, episode) {
          episodes.write(episode);
          results.write(item);
        },
        summarize(summary) {
          results.sync();
          const text = JSON.stringify(summary, null, 2);
          writeFileAtomicSync(join(path, names.summary), `${text}\n`);
        },
        discard() {
          close();
          for (const name of Object.values(names)) rmSync(join(path, name), { force: true });
          if (readdirSync(path).length === 0) rmdirSync(path);
        },
        [Symbol.dispose]: close,
      };
    } catch (error) {
      unlock();
      throw error;
    }
  });
}

/** An evaluation as it was recorded. */
export interface RecordedEvaluation {
  readonly settings: EvaluationSettings;
  readonly items: readonly EvaluationItem[];
}

/**
 * Reads the folder of an evaluation, also of one that was interrupted.
 * @throws ConfigError when it is none, or a line of its results is damaged.
 */
export function readEvaluation(folder: string): RecordedEvaluation {
  const settings = readSettings(folder);
  const path = join(folder, names.results);
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const lines = text.split("\n");
  // A last line without a line feed was cut short.
  const items = lines.slice(0, -1).map((line, index) => {
    const value = parse(line);
    if (isItem(value)) return value;
    throw new ConfigError({
      message: `${path}:${index + 1} is not a result of an evaluation.`,
      hint: "Resume the evaluation to repair it: the damaged line is moved to another file.",
      fields: { path, line: index + 1 },
    });
  });
  return { settings, items };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
