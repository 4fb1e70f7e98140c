/** Frameworks, versions of Node, and command-line agents, installed into .cache/. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../test/integration/root.ts";
import type { CommandLineAgent } from "./command-line.ts";
import type { Framework } from "./rows.ts";

const cache = join(root, ".cache", "matrix");
const sources = join(root, "examples", "frameworks");

const run = (program: string, args: readonly string[], cwd: string): void => {
  execFileSync(program, args, { cwd, stdio: ["ignore", "ignore", "inherit"] });
};
const npm = (cwd: string, ...args: readonly string[]): void =>
  run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...args], cwd);

const versionOf = (folder: string, name: string): string =>
  (
    JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")) as {
      version: string;
    }
  ).version;

/** The program of a major version of Node, from its package on npm. */
export function installNode(major: number): string {
  if (Number(process.versions.node.split(".")[0]) === major) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(cache, "node", String(major));
  const program = join(folder, "node_modules", name, "bin", "node");
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}");
  npm(folder, "--ignore-scripts", `${name}@${major}`);
  return program;
}

export interface Installed {
  readonly folder: string;
  readonly version: string;
  /** Words after the interpreter. */
  readonly args: readonly string[];
  readonly interpreter: string | null;
  /** Lines of the agent that are different because of the training. */
  readonly lines: number;
}

/** One version of a framework, next to what its agent imports. */
export function installFramework(
  { name, folder: source = name, file, isPython = false, requirement }: Framework,
  packages: Readonly<Record<string, string>>,
): Installed {
  const label = [source, ...Object.values(packages).slice(0, 1)].join("-");
  const world = join(cache, label);
  const folder = join(world, source);
  mkdirSync(world, { recursive: true });
  for (const copied of ["serve.mjs", "serve.py", "shop.mjs", source]) {
    cpSync(join(sources, copied), join(world, copied), { recursive: true });
  }
  const agent = join(folder, file ?? (isPython ? "agent.py" : "agent.mjs"));
  const lines = readFileSync(agent, "utf8").match(/(?:#|\/\/) changed/gu)?.length ?? 0;
  if (isPython) {
    const python = join(folder, "venv", "bin", "python");
    if (!existsSync(python)) {
      run("python3", ["-m", "venv", "venv"], folder);
      run(python, ["-m", "pip", "install", "--quiet", "-r", "requirements.txt"], folder);
    }
    const named = requirement ?? "openai";
    const code = `from importlib.metadata import version; print(version('${named}'))`;
    const version = execFileSync(python, ["-c", code]).toString().trim();
    const args = requirement === undefined ? [agent] : [join(world, "serve.py"), agent];
    return { folder, version, args, interpreter: python, lines };
  }
  const [first] = Object.keys(packages);
  if (first !== undefined) {
    const wanted = Object.entries(packages).map(([key, version]) => `${key}@${version}`);
    if (!existsSync(join(folder, "node_modules", first)))
      npm(folder, "--ignore-scripts", ...wanted);
  }
  const version = first === undefined ? "–" : versionOf(folder, first);
  return { folder, version, args: [join(world, "serve.mjs"), agent], interpreter: null, lines };
}

/** The newest version of a command-line agent; all of them in one folder. */
export function installCommandLineAgent(agent: CommandLineAgent): {
  readonly program: string;
  readonly version: string;
} {
  const folder = join(root, ".cache", "command-line-agents");
  const program = join(folder, "node_modules", ".bin", agent.program);
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    if (!existsSync(join(folder, "package.json")))
      writeFileSync(join(folder, "package.json"), "{}");
    npm(folder, agent.package);
  }
  return { program, version: versionOf(folder, agent.package) };
}
