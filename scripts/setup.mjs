/**
 * Makes a fresh clone ready: installs dependencies when they are missing or older than the lockfile,
 * compiles the kernels for this machine when the binaries of the repository are missing or of other
 * sources, and with --build compiles what has changed. Plain JavaScript, since nothing is installed yet.
 *
 *   node scripts/setup.mjs [--build | --rebuild]
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { hashSources } from "./native/sources.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const at = (...parts) => join(root, ...parts);
const say = (text) => process.stderr.write(`${text}\n`);

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  say(`agent-trainer needs Node 20.19 or newer; this is ${process.versions.node}.`);
  process.exit(2);
}

const read = (path) => (existsSync(path) ? readFileSync(path, "utf8") : null);

function modified(path) {
  return existsSync(path) ? statSync(path).mtimeMs : 0;
}

function newest(folder) {
  return readdirSync(folder, { withFileTypes: true }).reduce((time, entry) => {
    const path = join(folder, entry.name);
    return Math.max(time, entry.isDirectory() ? newest(path) : modified(path));
  }, 0);
}

function run(command, args) {
  // stdout goes to stderr: results of the command that follows must be alone on stdout.
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (status !== 0) {
    say(`\n"${command} ${args.join(" ")}" failed. What it printed above says why.`);
    process.exit(1);
  }
}

// By content, since switching branches touches the lockfile; by time where npm was called since.
const installed = at("node_modules", ".agent-trainer-installed");
const lockfile = createHash("sha256")
  .update(readFileSync(at("package-lock.json")))
  .digest("hex");
const ofNpm = modified(at("node_modules", ".package-lock.json"));
if (read(installed) !== lockfile || modified(installed) < ofNpm) {
  if (ofNpm < modified(at("package-lock.json"))) {
    say("Installing dependencies (once) ...");
    run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
  }
  writeFileSync(installed, lockfile);
}

const kernels = hashSources(root);
if (JSON.parse(read(at("native", "prebuilt", "hashes.json")) ?? "{}").sources === kernels) {
  rmSync(at("native", "build"), { recursive: true, force: true });
} else if (read(at("native", "build", "sources")) !== kernels) {
  say("Compiling the kernels for this machine ...");
  run(process.execPath, [at("scripts", "native.mjs"), "--host"]);
}

const stamp = at("dist", ".built");
const sources = [
  at("src"),
  at("examples"),
  at("tsconfig.json"),
  at("tsconfig.build.json"),
  at("tsconfig.examples.json"),
];
const changed = () =>
  Math.max(
    ...sources.map((path) => (statSync(path).isDirectory() ? newest(path) : modified(path))),
  );
const rebuild = process.argv.includes("--rebuild");
if (rebuild || (process.argv.includes("--build") && modified(stamp) < changed())) {
  say("Compiling ...");
  rmSync(at("dist"), { recursive: true, force: true });
  const tsc = at("node_modules", "typescript", "bin", "tsc");
  run(process.execPath, [tsc, "-p", "tsconfig.build.json"]);
  run(process.execPath, [tsc, "-p", "tsconfig.examples.json"]);
  run(process.execPath, [at("scripts", "build-view.mjs")]);
  writeFileSync(stamp, "");
}
