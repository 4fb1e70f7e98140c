/**
 * What a run holds at Fireworks, in a file of its run folder: written before something is created, and
 * removed when it is deleted. A file that a process left behind names what may still cost money.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { writeFileAtomicSync } from "../../util/files/atomic-write.ts";

/** One for each process, so that none overwrites what another left. */
const ownName = `fireworks-resources-${process.pid}.json`;
const anyName = /^fireworks-resources-\d+\.json$/u;

const schema = z.object({
  host: z.string(),
  pid: z.number(),
  base_url: z.string(),
  /** Resource names, with the queries that their deletion takes. */
  resources: z.array(z.object({ kind: z.string(), name: z.string() })),
});

export interface HeldResource {
  /** `deployment`, `trainer` or `training session`. */
  readonly kind: string;
  readonly name: string;
}

/** What another run left. */
export interface LeftResource extends HeldResource {
  readonly file: string;
  readonly baseUrl: string;
}

export class ResourceLedger {
  readonly #file: string | null;
  readonly #baseUrl: string;
  #held: readonly HeldResource[] = [];

  /** @param folder the run folder; null keeps nothing on disk. */
  constructor(folder: string | null, baseUrl: string) {
    this.#file = folder === null ? null : join(folder, ownName);
    this.#baseUrl = baseUrl;
  }

  get held(): readonly HeldResource[] {
    return this.#held;
  }

  add(resource: HeldResource): void {
    this.#held = [...this.#held, resource];
    this.#write();
  }

  remove({ name }: HeldResource): void {
    this.#held = this.#held.filter((one) => one.name !== name);
    this.#write();
  }

  #write(): void {
    if (this.#file === null) return;
    if (this.#held.length === 0) {
      rmSync(this.#file, { force: true });
      return;
    }
    mkdirSync(dirname(this.#file), { recursive: true });
    const record: z.output<typeof schema> = {
      host: hostname(),
      pid: process.pid,
      base_url: this.#baseUrl,
      resources: [...this.#held],
    };
    writeFileAtomicSync(this.#file, `${JSON.stringify(record, null, 2)}\n`);
  }
}

function isRunning({ host, pid }: z.output<typeof schema>): boolean {
  // What another machine runs is not known here.
  if (host !== hostname()) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** What runs next to `runDir` left, whose processes are gone. Files that cannot be read are skipped. */
export function leftResources(runDir: string): readonly LeftResource[] {
  const root = dirname(runDir);
  if (!existsSync(root)) return [];
  const files = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => {
      const folder = join(root, name);
      return readdirSync(folder)
        .filter((file) => anyName.test(file))
        .map((file) => join(folder, file));
    });
  return files.flatMap((file) => {
    const record = schema.safeParse(readJson(file)).data;
    if (record === undefined || isRunning(record)) return [];
    return record.resources.map((one) => ({ ...one, file, baseUrl: record.base_url }));
  });
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
