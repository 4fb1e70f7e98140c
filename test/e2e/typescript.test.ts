/**
 * TypeScript modules of a user, as the compiled program loads them. Other versions of Node are named by
 * AGENT_TRAINER_TEST_NODES, paths of executables with a colon between them.
 */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "./cli-process.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const loader = pathToFileURL(join(root, "dist/launch/load-module.js")).href;
const nodes = (process.env["AGENT_TRAINER_TEST_NODES"] ?? process.execPath).split(":");

interface Project {
  readonly files: Readonly<Record<string, string>>;
  /** @default agent.ts */
  readonly spec?: string;
  readonly hasTsx?: boolean;
  readonly folder?: string;
  readonly flags?: readonly string[];
}

/** What the export returns, or the error's message and hint. */
async function load(node: string, project: Project): Promise<string> {
  await using temporary = await temporaryFolder();
  const folder = join(temporary.path, project.folder ?? "project");
  for (const [name, text] of Object.entries(project.files)) {
    const file = join(folder, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  if (project.hasTsx !== false) {
    await mkdir(join(folder, "node_modules"), { recursive: true });
    await symlink(join(root, "node_modules/tsx"), join(folder, "node_modules/tsx"));
  }
  const entry = project.hasTsx === false ? await withoutTsx() : loader;
  const request = { folder, option: "agent", defaults: ["agent", "default"] };
  const specs = (project.spec ?? "agent.ts").replace("FOLDER", folder).split(" ");
  const code = `const { loadExport } = await import(${JSON.stringify(entry)});
    try {
      const results = [];
      for (const spec of ${JSON.stringify(specs)}) {
        const agent = await loadExport({ ...${JSON.stringify(request)}, spec });
        results.push(agent("x"));
      }
      console.log(results.join(" "));
    } catch (error) { console.log(error.message, error.hint); }`;
  const { stdout } = await promisify(execFile)(
    node,
    [...(project.flags ?? []), "--input-type=module", "-e", code],
    { cwd: temporary.path, env: { ...process.env, NODE_OPTIONS: "" } },
  );
  return stdout.trim();
}

/** The program as it is installed where nobody has tsx. */
let copy: Promise<string> | undefined;
function withoutTsx(): Promise<string> {
  copy ??= (async () => {
    const folder = await mkdtemp(join(tmpdir(), "agent-trainer-alone-"));
    await cp(join(root, "dist"), join(folder, "dist"), { recursive: true });
    await cp(join(root, "package.json"), join(folder, "package.json"));
    await mkdir(join(folder, "node_modules"));
    for (const name of ["picocolors", "fastest-levenshtein"]) {
      await symlink(join(root, "node_modules", name), join(folder, "node_modules", name));
    }
    return pathToFileURL(join(folder, "dist/launch/load-module.js")).href;
  })();
  return copy;
}

const esm = JSON.stringify({ type: "module" });
const agent = "export const agent = (text: string): string => `${text} from agent`;";

const projects: readonly (readonly [string, Project, string])[] = [
  ["a module", { files: { "package.json": esm, "agent.ts": agent } }, "x from agent"],
  [
    'CommonJS, as "npm init -y" writes it',
    { files: { "package.json": '{"type":"commonjs"}', "agent.ts": agent } },
    "x from agent",
  ],
  ["no package.json", { files: { "agent.ts": agent } }, "x from agent"],
  [
    "a .js specifier for a .ts file",
    {
      files: {
        "package.json": esm,
        "agent.ts": 'import { tool } from "./tool.js"; export const agent = tool;',
        "tool.ts": "export const tool = (text: string): string => `tool ${text}`;",
      },
    },
    "tool x",
  ],
  [
    "the same in CommonJS, without an extension, too",
    {
      files: {
        "package.json": '{"type":"commonjs"}',
        "agent.ts":
          'import { tool } from "./tool.js"; import { other } from "./other"; export const agent = (t: string) => tool(t) + other;',
        "tool.ts": "export const tool = (text: string): string => `tool ${text}`;",
        "other.ts": 'export const other: string = "!";',
      },
    },
    "tool x!",
  ],
  [
    "an enum and a parameter property",
    {
      files: {
        "package.json": esm,
        "agent.ts": `enum Mood { Calm = "calm" }
          class Tool { constructor(private readonly mood: Mood) {} say() { return this.mood; } }
          export default (text: string) => text + " " + new Tool(Mood.Calm).say();`,
      },
    },
    "x calm",
  ],
  [
    "paths of the project's tsconfig.json",
    {
      files: {
        "package.json": esm,
        "tsconfig.json": '{"compilerOptions":{"paths":{"@lib/*":["./lib/*"]}}}',
        "agents/agent.ts": 'import { tool } from "@lib/tool"; export const agent = tool;',
        "lib/tool.ts": "export const tool = (text: string): string => `lib ${text}`;",
      },
      spec: "agents/agent.ts",
    },
    "lib x",
  ],
  [
    "one module for two that use it",
    {
      files: {
        "package.json": esm,
        "state.ts": "let calls = 0; export const next = (): number => ++calls;",
        "agent.ts": 'import { next } from "./state.ts"; export const agent = () => next();',
        "evaluator.ts": 'import { next } from "./state.ts"; export const evaluator = () => next();',
        "plain.mjs": 'import { next } from "./state.ts"; export const agent = () => next();',
      },
      spec: "agent.ts evaluator.ts#evaluator plain.mjs",
    },
    "1 2 3",
  ],
  [
    "a folder with signs that URLs know",
    {
      files: {
        "package.json": esm,
        "agent.ts": 'export { agent } from "./tool.js";',
        "tool.ts": agent,
      },
      folder: "c#proj x%20 ü",
    },
    "x from agent",
  ],
  [
    "JavaScript in such a folder",
    {
      files: {
        "package.json": esm,
        "agent.js": 'export { agent } from "./tool.js";',
        "tool.js": "export const agent = (text) => text;",
      },
      spec: "agent.js",
      folder: "c#proj?x%20 ü",
    },
    "x",
  ],
  [
    "an absolute path without an export in such a folder",
    {
      files: { "package.json": esm, "agent.js": "export const agent = (text) => text;" },
      spec: "FOLDER/agent.js",
      folder: "c#proj?x%20-ü",
    },
    "x",
  ],
  [
    "a process that has tsx already",
    {
      files: { "package.json": esm, "agent.ts": agent },
      flags: ["--import", join(root, "node_modules/tsx/dist/loader.mjs")],
    },
    "x from agent",
  ],
];

describe.each(nodes)("%s", (node) => {
  it.each(projects)("loads %s", async (_name, project, expected) => {
    expect(await load(node, project)).toBe(expected);
  });

  it("reads what Node reads where there is no tsx, or names the remedy", async () => {
    const files = { "package.json": esm, "agent.ts": agent };
    expect(await load(node, { files, hasTsx: false })).toMatch(
      /^x from agent$|agent\.ts is TypeScript, which Node \S+ cannot load\. Run: npm install --save-dev tsx/,
    );
  });

  it("reads TypeScript that JavaScript imports where Node does, or names the remedy", async () => {
    const files = {
      "package.json": esm,
      "agent.mjs": 'import { tool } from "./tool.ts"; export const agent = tool;',
      "tool.ts": "export const tool = (text: string): string => `tool ${text}`;",
    };
    expect(await load(node, { files, spec: "agent.mjs" })).toMatch(
      /^tool x$|agent\.mjs imports TypeScript, which Node \S+ cannot load\. Convert this file to TypeScript/,
    );
  });

  it("says what to do where tsx cannot load from a folder", async () => {
    const files = { "package.json": esm, "agent.ts": agent };
    expect(await load(node, { files, folder: "a?b" })).toMatch(
      /^x from agent$|agent\.ts is .*TypeScript, .* Rename the folder/,
    );
  });

  it("names the remedy where there is no tsx", async () => {
    const files = {
      "package.json": esm,
      "agent.ts": "enum Mood { Calm } export const agent = () => Mood.Calm;",
    };
    expect(await load(node, { files, hasTsx: false })).toMatch(
      /agent\.ts is .*TypeScript, .* Run: npm install --save-dev tsx/s,
    );
  });
});
