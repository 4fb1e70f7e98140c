/**
 * Virtual environments for integration tests, made once per recipe in `.cache/integration`. The
 * interpreter is python3, or what PYTHON names. Knows no test.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.ts";
import { runCommand } from "./run-command.ts";

export interface PythonRecipe {
  readonly name: string;
  /** As pip takes them, with versions. */
  readonly packages: readonly string[];
  /** Versions that win over what packages ask for. */
  readonly overrides?: readonly string[];
  /** @default PYTHON, or python3 */
  readonly interpreter?: string;
}

/** The environment's interpreter. The first call with a recipe takes minutes. */
export function pythonEnvironment(recipe: PythonRecipe): string {
  const { name, packages, overrides = [] } = recipe;
  const interpreter = recipe.interpreter ?? process.env["PYTHON"] ?? "python3";
  const folder = join(root, ".cache", "integration", name);
  const python = join(folder, "bin", "python");
  const stamp = join(folder, "recipe.json");
  const wanted = JSON.stringify({ packages, overrides });
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return python;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  runCommand(interpreter, ["-m", "venv", folder]);
  runCommand(python, ["-m", "pip", "install", "--quiet", "uv"]);
  const overrideFile = join(folder, "overrides.txt");
  writeFileSync(overrideFile, overrides.join("\n"));
  const args = ["-m", "uv", "pip", "install", "--quiet", "--python", python];
  runCommand(python, [...args, "--override", overrideFile, ...packages]);
  writeFileSync(stamp, wanted);
  return python;
}
