/** Writes a program with the command line of docker that keeps its containers as folders beside it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export function writeContainerProgram(folder: string, name: string, works = true): void {
  mkdirSync(join(folder, "containers"), { recursive: true });
  const script = join(import.meta.dirname, "container-stand-in.sh");
  const text = works ? `exec /bin/sh '${script}' '${folder}' "$@"` : "exit 1";
  writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
}
