/** The files of a new project, as text by name: templates, and what depends on the framework. */
import { readFileSync } from "node:fs";
import { basename, join, resolve, isAbsolute, relative, sep } from "node:path";
import { type Framework, type FrameworkName, frameworks } from "./frameworks.ts";
import { ownSpec, packageRoot, testedVersion } from "./own-package.ts";
import { isBuiltinName, kindOfModelName } from "../../backends/local/model-name.ts";

/** What the templates in `common/` are written for. */
export const templateModel = "builtin:shop-tiny";

/** A path is relative to the project, where commands are run. @throws ModelError for a name that is none. */
export function modelInProject(name: string, folder: string): string {
  if (kindOfModelName(name) !== "path" || isAbsolute(name)) return name;
  const path = relative(folder, resolve(name)).split(sep).join("/");
  return /^\.{1,2}(?:\/|$)/u.test(path) ? path : `./${path}`;
}

/** The built-in model speaks the shop's language from the start; any other begins with demonstrations. */
export const needsDemonstrations = (model: string): boolean => !isBuiltinName(model);

/** A configuration of `templates/real-model/`, which leaves the model's name open. */
const withModel = (yaml: string, model: string): string =>
  yaml.replace('"MODEL"', () => JSON.stringify(model));

/** Names in the project of the templates that all frameworks share; npm would drop a `.gitignore`. */
const shared = {
  "evaluator.ts": "evaluator.ts",
  "tools.ts": "tools.ts",
  "evaluation.test.ts": "evaluation.test.ts",
  "tsconfig.json": "project-tsconfig.json",
  ".gitignore": "gitignore",
} as const;

/** What depends on the model: on one that speaks already, or on one that is shown first how to. */
const builtinFiles = ["train.yaml", "train.jsonl", "val.jsonl"] as const;
const realFiles = ["sft.yaml", "demonstrations.jsonl", ...builtinFiles] as const;

const template = (...path: string[]): string =>
  readFileSync(join(packageRoot, "templates", ...path), "utf8");

/** The packages that a project needs, with their versions. */
export interface Packages {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

export function packagesOf(framework: Framework, folder: string): Packages {
  const tested = ["@types/node", "tsx", "vitest"].map(
    (name) => [name, testedVersion(name)] as const,
  );
  const ofAgent = Object.entries(framework.packages).map(
    ([name, version]) => [name, version ?? testedVersion(name)] as const,
  );
  return {
    dependencies: {
      ...Object.fromEntries(ofAgent),
      "agent-trainer": ownSpec(folder),
    },
    devDependencies: Object.fromEntries(tested),
  };
}

/** A name that npm accepts. */
function packageName(folder: string): string {
  const name = basename(resolve(folder))
    .toLowerCase()
    .replaceAll(/[^a-z\d._-]+/gu, "-")
    .replace(/^[._-]+/u, "");
  return name === "" || name === "agent-trainer" ? "my-agent" : name;
}

function manifest(framework: Framework, folder: string, model: string): string {
  const { minNode } = framework;
  const train = "agent-trainer train train.yaml";
  const scripts = needsDemonstrations(model)
    ? { sft: "agent-trainer sft sft.yaml", train: `${train} model.name=runs/sft` }
    : { train };
  const content = {
    name: packageName(folder),
    version: "0.0.0",
    private: true,
    type: "module",
    scripts: { ...scripts, test: "vitest run" },
    ...packagesOf(framework, folder),
    engines: { node: `>=${minNode ?? "20.19"}` },
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

const builtinSteps = "npm run train   # less than a minute on a CPU; the run is written to runs/";

const realSteps = (model: string): string =>
  `npm run sft     # ${model} learns from demonstrations.jsonl how the tools are called; runs/sft
npm run train   # reinforcement learning from there; runs/rl`;

function readme({ title, minNode }: Framework, folder: string, model: string): string {
  return `# ${packageName(folder)}

A shop assistant with ${title}, trained by reinforcement learning with agent-trainer.${minNode === undefined ? "" : ` It needs Node ${minNode} or later.`}

\`\`\`sh
npm install     # once
${needsDemonstrations(model) ? realSteps(model) : builtinSteps}
npm test        # evaluates the trained model on val.jsonl
\`\`\`

Change \`agent.ts\` (the agent), \`tools.ts\` (its tools), \`evaluator.ts\` (the reward) and the tasks in \`train.jsonl\` and \`val.jsonl\`. Options are in \`train.yaml\`; \`npx agent-trainer train --help\` lists those that matter first.
`;
}

/** Every file of the project, by its name. */
export function projectFiles(
  name: FrameworkName,
  folder: string,
  model: string = templateModel,
): ReadonlyMap<string, string> {
  const framework = frameworks[name];
  const own = needsDemonstrations(model)
    ? realFiles.map((file) => [file, withModel(template("real-model", file), model)] as const)
    : builtinFiles.map((file) => [file, template("common", file)] as const);
  return new Map([
    ["agent.ts", template(name, "agent.ts")],
    ...Object.entries(shared).map(([to, from]) => [to, template("common", from)] as const),
    ...own,
    ["package.json", manifest(framework, folder, model)],
    ["README.md", readme(framework, folder, model)],
  ]);
}
