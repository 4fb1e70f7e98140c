/** Python environments that benchmarks compare with: made once per list of packages, in `.cache`. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const say = (text) => process.stderr.write(`${text}\n`);

/**
 * Does nothing where `.cache/NAME` has the packages already, unless `--rebuild` is among the arguments. The
 * interpreter is python3, or what PYTHON names. `override` is a version that wins over what packages ask for.
 */
export function makeEnvironment({ name, title, packages, override, hint }) {
  const folder = join(root, ".cache", name);
  const stamp = join(folder, "installed.txt");
  const python = join(folder, process.platform === "win32" ? "Scripts" : "bin", "python");
  const wanted = `${[...packages, ...(override === undefined ? [] : [override])].join("\n")}\n`;
  const run = (command, args) => {
    const { status, error } = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2] });
    if (status === 0) return;
    say(`\n"${command} ${args.join(" ")}" failed${error ? `: ${error.message}` : ""}.`);
    say(hint);
    process.exit(1);
  };
  if (process.argv.includes("--rebuild")) rmSync(folder, { recursive: true, force: true });
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) {
    say(`Installed in ${folder}: ${title}.`);
    return;
  }
  say(`Installing ${title} (once, some minutes) ...`);
  run(process.env.PYTHON ?? "python3", ["-m", "venv", folder]);
  if (override === undefined) {
    run(python, ["-m", "pip", "install", "--quiet", ...packages]);
  } else {
    run(python, ["-m", "pip", "install", "--quiet", "uv"]);
    const overrides = join(folder, "overrides.txt");
    writeFileSync(overrides, `${override}\n`);
    const install = ["-m", "uv", "pip", "install", "--quiet", "--python", python];
    run(python, [...install, "--override", overrides, ...packages]);
  }
  writeFileSync(stamp, wanted);
}
