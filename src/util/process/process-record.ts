/**
 * The processes of a run in a file of its folder, while there are any: a run that is resumed ends those
 * that an earlier process left, where that and its guard were killed together.
 */
import { appendFileSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { writeFileAtomicSync } from "../files/atomic-write.ts";
import { endGuarded, type GuardedProcess, type GuardLine } from "./guarded-process.ts";
import { killMarked } from "./kill-tree.ts";
import { guardMark, watchGuarded } from "./process-guard.ts";

interface Head {
  /** Of `processTable`. */
  readonly table: string;
  readonly mark: string;
}

const marks = /^AGENT_TRAINER_(?:GUARD|PROCESS)=[\da-f-]{36}$/u;

/** Lines after which a file is written anew, with what is running only. */
const maxLines = 1000;

/** Which process table ids belong to: that of this machine, since it was started, in this container. */
function processTable(): string {
  const parts = [hostname()];
  try {
    parts.push(readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
    parts.push(readlinkSync("/proc/self/ns/pid"));
  } catch {
    // Only Linux has them. Elsewhere, the start of a process has its date.
  }
  return parts.join(" ");
}

/** Writes `file` whenever a process starts or ends, until disposed, which removes it. */
export function recordProcesses(file: string): Disposable {
  const running = new Map<number, string>();
  let lines = 0;
  const head: Head = { table: processTable(), mark: guardMark };
  const write = (said: GuardLine): void => {
    if ("add" in said && !("pid" in said.add)) return;
    const line = `${JSON.stringify(said)}\n`;
    if ("add" in said) running.set(said.add.id, line);
    else if (!running.delete(said.remove)) return;
    const isNew = lines === 0 || lines > maxLines + 4 * running.size;
    lines = isNew ? 1 + running.size : lines + 1;
    try {
      if (!isNew) appendFileSync(file, line);
      else {
        writeFileAtomicSync(file, [`${JSON.stringify(head)}\n`, ...running.values()].join(""));
      }
    } catch {
      // A full disk ends the run elsewhere; the guard does without the file.
    }
  };
  const watch = watchGuarded(write);
  return {
    [Symbol.dispose]() {
      watch[Symbol.dispose]();
      rmSync(file, { force: true });
    },
  };
}

/** Ends the processes of a record that are still alive, and removes it. The process that wrote it is gone. */
export function endRecorded(file: string): void {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return;
  }
  const [head, ...rest] = text.split("\n").map(parse);
  const { table, mark } = (head ?? {}) as Partial<Head>;
  if (table === processTable() && typeof mark === "string") {
    const running = new Map<number, GuardedProcess>();
    for (const line of rest as (GuardLine | null)[]) {
      if (line === null) continue;
      if ("remove" in line) running.delete(line.remove);
      else if ("pid" in line.add && isSafe(line.add)) running.set(line.add.id, line.add);
    }
    endGuarded([...running.values()]);
    if (marks.test(mark)) killMarked([mark]);
  }
  rmSync(file, { force: true });
}

/** Without its start, an id may be that of another process by now. */
const isSafe = ({ pid, start, mark }: GuardedProcess): boolean =>
  Number.isInteger(pid) && pid > 1 && typeof start === "string" && marks.test(mark);

/** null for a line that was cut off. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return null;
  }
}
