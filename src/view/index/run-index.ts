/** The index of one folder: opened, extended by what was written since, and read. */
import { closeSync, existsSync, fstatSync, openSync, statSync } from "node:fs";
import { basename } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Database, Statement } from "libsql";
import type { Episode } from "../../core/trajectory.ts";
import { parseEpisode } from "../../runs/evaluations/recorded-episode.ts";
import {
  episodeFiles,
  episodeOrigin,
  episodePath,
} from "../../runs/evaluations/recorded-episodes.ts";
import type { IndexState } from "../api/episodes.ts";
import { fileMark, type LinePlace, readLineAt, recordLines } from "./file-lines.ts";
import { indexColumns, indexRow } from "./index-row.ts";
import { indexPath, openIndexFile } from "./schema.ts";

/** Lines per transaction; between two of them, requests are served. */
const batchLines = 200;

interface FileRow {
  readonly id: number;
  readonly name: string;
  readonly bytes: number;
  readonly damaged: number;
  readonly mark: string;
  /** Size and time of the file when all of it was in the index. */
  readonly stamp: string;
}

/** A run without rollouts, or that has none yet, has no files. */
function filesOf(folder: string): readonly string[] {
  try {
    return episodeFiles(folder).filter((path) => existsSync(path));
  } catch {
    return [];
  }
}

const count = (db: Database, sql: string): number =>
  Number(Object.values((db.prepare(sql).get() as Record<string, unknown>) ?? {})[0] ?? 0);

export class RunIndex implements Disposable {
  readonly db: Database;
  readonly #folder: string;
  readonly #insert: Statement;
  readonly #insertWords: Statement;
  readonly #addTotals: Statement;
  #isBuilding = false;
  #isClosed = false;
  #bytesTotal = 0;

  constructor(folder: string, path: string = indexPath(folder)) {
    this.#folder = folder;
    this.db = openIndexFile(path);
    const places = indexColumns.split(",").map(() => "?");
    this.#insert = this.db.prepare(
      `INSERT INTO episodes (file, at, inside, bytes, ${indexColumns}) VALUES (?, ?, ?, ?, ${places.join(", ")})`,
    );
    this.#insertWords = this.db.prepare("INSERT INTO words (rowid, text) VALUES (?, ?)");
    this.#addTotals = this.db.prepare(
      `INSERT INTO totals VALUES (?, ?, ?, 1, ?) ON CONFLICT DO UPDATE SET
       episodes = episodes + 1, calls = calls + excluded.calls`,
    );
    this.#bytesTotal = this.#sizeOfAll();
  }

  #sizeOfAll(): number {
    return filesOf(this.#folder).reduce((sum, path) => sum + statSync(path).size, 0);
  }

  #fileRow(name: string): FileRow | undefined {
    return this.db.prepare("SELECT * FROM files WHERE name = ?").get(name) as FileRow | undefined;
  }

  #transaction(work: () => void): void {
    this.db.exec("BEGIN IMMEDIATE");
    try {
      work();
      this.db.exec("COMMIT");
    } catch (error) {
      this.db.exec("ROLLBACK");
      throw error;
    }
  }

  #forget({ id }: FileRow): void {
    this.db
      .prepare("DELETE FROM words WHERE rowid IN (SELECT n FROM episodes WHERE file = ?)")
      .run(id);
    this.db.prepare("DELETE FROM episodes WHERE file = ?").run(id);
    this.db.prepare("DELETE FROM files WHERE id = ?").run(id);
    this.db.exec(
      `DELETE FROM totals;
       INSERT INTO totals SELECT ended, phase, step, count(*), sum(calls) FROM episodes GROUP BY 1, 2, 3`,
    );
  }

  /** Reads what was written since; calls `onProgress` after each part. Returns whether anything changed. */
  async extend(onProgress?: (state: IndexState) => void): Promise<boolean> {
    if (this.#isBuilding || this.#isClosed) return false;
    this.#isBuilding = true;
    let isChanged = false;
    try {
      const paths = filesOf(this.#folder);
      this.#bytesTotal = this.#sizeOfAll();
      const names = new Set(paths.map((path) => basename(path)));
      const known = this.db.prepare("SELECT * FROM files").all() as FileRow[];
      const stamps = new Map(known.map(({ name, stamp }) => [name, stamp]));
      const gone = known.filter(({ name }) => !names.has(name));
      if (gone.length > 0) {
        this.#transaction(() => gone.forEach((row) => this.#forget(row)));
        isChanged = true;
      }
      for (const path of paths) {
        const { size, mtimeMs } = statSync(path);
        const stamp = `${size}/${mtimeMs}`;
        if (stamps.get(basename(path)) === stamp) continue;
        while (!this.#isClosed && this.#readPart(path)) {
          isChanged = true;
          onProgress?.(this.state());
          await setImmediate();
        }
        if (this.#isClosed) break;
        this.db.prepare("UPDATE files SET stamp = ? WHERE name = ?").run(stamp, basename(path));
        await setImmediate();
      }
    } finally {
      this.#isBuilding = false;
    }
    return isChanged;
  }

  /** Adds the next lines of a file; false where there are none. */
  #readPart(path: string): boolean {
    const name = basename(path);
    const handle = openSync(path, "r");
    try {
      let known = this.#fileRow(name);
      const { size } = fstatSync(handle);
      if (known !== undefined && known.bytes === size) {
        if (known.mark === fileMark(handle, known.bytes)) return false;
      }
      let isAdded = false;
      this.#transaction(() => {
        // Again, now that no other process can write.
        known = this.#fileRow(name);
        if (
          known !== undefined &&
          (known.bytes > size || known.mark !== fileMark(handle, known.bytes))
        ) {
          this.#forget(known);
          known = undefined;
          isAdded = true;
        }
        isAdded = this.#addLines(handle, path, known) || isAdded;
      });
      return isAdded;
    } finally {
      closeSync(handle);
    }
  }

  #addLines(handle: number, path: string, known: FileRow | undefined): boolean {
    const { step, phase } = episodeOrigin(path);
    const id =
      known?.id ??
      Number(
        this.db
          .prepare("INSERT INTO files (name, bytes, damaged, mark, stamp) VALUES (?, 0, 0, '', '')")
          .run(basename(path)).lastInsertRowid,
      );
    let [until, damaged, lines] = [known?.bytes ?? 0, known?.damaged ?? 0, 0];
    for (const { at, inside, bytes, text, next } of recordLines(path, handle, until)) {
      lines++;
      const episode = text === null ? null : parseEpisode(text);
      if (episode !== null) {
        const row = indexRow(episode, step, phase);
        const { lastInsertRowid } = this.#insert.run(id, at, inside, bytes, ...row.values);
        this.#insertWords.run(lastInsertRowid, row.text);
        this.#addTotals.run(row.ended, phase, step, row.calls);
      } else if (bytes > 0) damaged++;
      if (next === null) continue;
      until = next;
      if (lines >= batchLines) break;
    }
    this.db
      .prepare("UPDATE files SET bytes = ?, damaged = ?, mark = ? WHERE id = ?")
      .run(until, damaged, fileMark(handle, until), id);
    return lines > 0;
  }

  state(): IndexState {
    return {
      episodes: count(this.db, "SELECT sum(episodes) FROM totals"),
      calls: count(this.db, "SELECT sum(calls) FROM totals"),
      damaged: count(this.db, "SELECT sum(damaged) FROM files"),
      bytesRead: count(this.db, "SELECT sum(bytes) FROM files"),
      bytesTotal: this.#bytesTotal,
      isBuilding: this.#isBuilding,
    };
  }

  /** The recorded episode; null where there is none, or its file has changed since. */
  episode(n: number): Episode | null {
    const found = this.db
      .prepare(
        "SELECT at, inside, episodes.bytes AS bytes, name, id FROM (SELECT at, inside, bytes, file, id AS id FROM episodes WHERE n = ?) episodes JOIN (SELECT id AS file_id, name FROM files) ON file_id = file",
      )
      .get(n) as (LinePlace & { readonly name: string; readonly id: string }) | undefined;
    if (found === undefined) return null;
    const path = episodePath(this.#folder, found.name);
    if (!existsSync(path)) return null;
    const text = readLineAt(path, found);
    const episode = text === null ? null : parseEpisode(text);
    return episode?.id === found.id ? episode : null;
  }

  /** Ends `extend` after the part that it is reading. */
  stop(): void {
    this.#isClosed = true;
  }

  [Symbol.dispose](): void {
    this.stop();
    this.db.close();
  }
}
