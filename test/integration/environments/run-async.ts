/** Runs a client while a server runs in this process, which `runCommand` would block. */
import { execFile } from "node:child_process";

/** Its standard output. */
export async function runAsync(command: string, args: readonly string[]): Promise<string> {
  return await new Promise((resolve, reject) => {
    execFile(command, [...args], { timeout: 100_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${error.message}\n${stderr.slice(-3000)}`));
    });
  });
}
