/** Where a Python environment has its interpreter. */
import { join } from "node:path";

/** Path of the interpreter in the environment in `folder`. */
export function pythonIn(folder: string): string {
  return process.platform === "win32"
    ? join(folder, "Scripts", "python.exe")
    : join(folder, "bin", "python");
}
