/** Starts a project: writes an agent that trains at once, and never overwrites a file. */
import { mkdirSync, statSync, writeFileSync, lstatSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { ConfigError } from "../../core/errors.ts";
import { shellQuote } from "../../util/shell-quote.ts";
import { kindOfModelName } from "../../backends/local/model-name.ts";
import { type FrameworkName, frameworks, nodeNote, requireFramework } from "./frameworks.ts";
import { type Manifest, readManifest } from "./own-package.ts";
import {
  modelInProject,
  needsDemonstrations,
  templateModel,
  type Packages,
  packagesOf,
  projectFiles,
} from "./project-files.ts";

/** Options of {@link initProject}. */
export interface InitOptions {
  /** Folder of the project; created if it does not exist. @default the current folder */
  readonly folder?: string;
  /** Framework that the agent is written with. @default "openai" */
  readonly framework?: FrameworkName;
  /**
   * Model that is trained: `OWNER/NAME` on a hub, a folder, a run, a `.gguf` file, or a built-in one. Nothing is
   * downloaded. @default "builtin:shop-tiny"
   */
  readonly model?: string;
  /** Writes nothing, and returns what would be written. @default false */
  readonly dryRun?: boolean;
}

/** What happened to one file of a new project. */
export interface InitFile {
  /** Relative to the folder of the project. */
  readonly path: string;
  /** `kept`: it was there before, and was left as it is. `missing`: a dry run would create it. */
  readonly status: "created" | "kept" | "missing";
}

/** The result of {@link initProject}. */
export interface InitResult {
  /** Absolute path of the project. */
  readonly folder: string;
  readonly framework: FrameworkName;
  /** As the configuration names it. */
  readonly model: string;
  readonly files: readonly InitFile[];
  /** What must be known before the first run, one sentence each. */
  readonly notes: readonly string[];
  /** Shell commands that install, train and evaluate. */
  readonly next: readonly string[];
}

/**
 * Writes a project that trains at once, on the built-in model unless another is named: an agent, its tools, an evaluator, tasks,
 * a configuration and an evaluation for vitest. Files that exist are kept, so it may be called again.
 *
 * @example
 * const { files, next } = initProject({ folder: "shop", framework: "ai-sdk" });
 * console.log(files.filter(({ status }) => status === "created").length, next);
 *
 * @throws ConfigError when the framework is unknown, the folder is a file, or a model is named and the
 * configuration is there already; ModelError when the model's name is none.
 */
export function initProject(options: InitOptions = {}): InitResult {
  const framework = requireFramework(options.framework ?? "openai");
  const folder = resolve(options.folder ?? ".");
  checkFolder(folder);
  const kept = readKept(folder);
  const model = projectModel(options.model, folder);
  const texts = projectFiles(framework, folder, model);
  const isDryRun = options.dryRun === true;
  if (!isDryRun) mkdirSync(folder, { recursive: true });
  const files = [...texts].map(([path, text]): InitFile => {
    const file = join(folder, path);
    if (isDryRun) return { path, status: exists(file) ? "kept" : "missing" };
    return { path, status: create(file, text) ? "created" : "kept" };
  });
  const packages = packagesOf(frameworks[framework], folder);
  const note = nodeNote(frameworks[framework], process.versions.node);
  return {
    folder,
    framework,
    model,
    files,
    notes: note === null ? [] : [note],
    next: [
      ...changeFolder(folder),
      ...(kept === null ? ["npm install"] : installsFor(kept, packages)),
      ...(model === options.model && kindOfModelName(model) === "hub" ? [pull(model)] : []),
      ...trainingSteps(model, kept !== null),
    ],
  };
}

/** @throws where it would not get into the configuration. */
function projectModel(given: string | undefined, folder: string): string {
  if (given === undefined) return templateModel;
  const model = modelInProject(given, folder);
  const file = join(folder, "train.yaml");
  if (!exists(file)) return model;
  throw new ConfigError({
    message: `${file} is kept as it is, so the model ${JSON.stringify(given)} would not be written to it.`,
    hint: `Change model.name in that file to ${JSON.stringify(model)}, and run init without a model.`,
    fields: { file, model },
  });
}

function checkFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? true) return;
  throw new ConfigError({
    message: `${folder} is a file, so no project can be written to it.`,
    hint: "Name a folder; it is created if it does not exist.",
    fields: { folder },
  });
}

/** Whether anything has this name, even a link to nothing. */
const exists = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false }) !== undefined;

/** @returns `false` if something has this name already. */
function create(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

const pull = (model: string): string => `npx agent-trainer model pull ${shellQuote(model)}`;

/** @param isPlain without the scripts of a package.json, which is another's */
function trainingSteps(model: string, isPlain: boolean): readonly string[] {
  const train = "npx agent-trainer train train.yaml";
  const test = isPlain ? "npx vitest run" : "npm test";
  if (!needsDemonstrations(model)) return [isPlain ? train : "npm run train", test];
  return [
    isPlain ? "npx agent-trainer sft sft.yaml" : "npm run sft",
    isPlain ? `${train} model.name=runs/sft` : "npm run train",
    test,
    `npx agent-trainer chat runs/rl --agent train.yaml --before ${shellQuote(model)}`,
  ];
}

function changeFolder(folder: string): string[] {
  const path = relative(process.cwd(), folder);
  return path === "" ? [] : [`cd ${shellQuote(path)}`];
}

/** For a package.json that was there before: what it lacks. */
function installsFor(kept: Manifest, { dependencies, devDependencies }: Packages): string[] {
  const has = { ...kept.dependencies, ...kept.devDependencies };
  const install = (command: string, packages: Readonly<Record<string, string>>): string[] => {
    const lacking = Object.entries(packages)
      .filter(([name]) => !(name in has))
      .map(([name, spec]) => shellQuote(spec.startsWith("file:") ? spec : `${name}@${spec}`));
    return lacking.length === 0 ? [] : [`${command} ${lacking.join(" ")}`];
  };
  const installs = [
    ...install("npm install", dependencies),
    ...install("npm install --save-dev", devDependencies),
  ];
  return [
    ...(kept.type === "module" ? [] : ["npm pkg set type=module"]),
    ...(installs.length === 0 ? ["npm install"] : installs),
  ];
}

/** `null` if there is no package.json yet. */
function readKept(folder: string): Manifest | null {
  if (!exists(join(folder, "package.json"))) return null;
  try {
    return readManifest(folder);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError({
      message: `${join(folder, "package.json")} cannot be read: ${reason}`,
      hint: "Correct the file, or delete it, and run init again.",
      cause,
    });
  }
}
