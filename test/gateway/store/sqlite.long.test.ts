import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import Libsql from "libsql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConfigError } from "../../../src/core/errors.ts";
import { createSqliteTraceStore, type TraceStore } from "../../../src/gateway/index.ts";
import type { Trace } from "../../../src/core/trace.ts";
import { sampleIds, makeSession, makeTrace } from "./make-trace.ts";
import { bundlePrograms, newBundleFolder } from "../../bundle-program.ts";
import { processorClock } from "../../processor-time.ts";

const folder = mkdtempSync(join(tmpdir(), "sqlite-"));
afterAll(() => rmSync(folder, { recursive: true }));
const bundled = newBundleFolder();
beforeAll(() =>
  bundlePrograms(
    {
      store: join(import.meta.dirname, "../../../src/gateway/index.ts"),
      trace: join(import.meta.dirname, "make-trace.ts"),
    },
    bundled,
  ),
);
const storeModule = pathToFileURL(join(bundled, "store.mjs")).href;
const traceModule = pathToFileURL(join(bundled, "trace.mjs")).href;
const file = (name: string): string => join(folder, name);

describe("files that are no trace store", () => {
  it("are refused by name and left as they are", () => {
    writeFileSync(file("text.sqlite"), "These are not the traces you are looking for.".repeat(100));
    expect(() => createSqliteTraceStore(file("text.sqlite"))).toThrow(
      /text\.sqlite is not a trace/,
    );
    const other = new Libsql(file("other.sqlite"));
    other.exec("CREATE TABLE trace_sessions (trace_id TEXT)");
    other.close();
    expect(() => createSqliteTraceStore(file("other.sqlite"))).toThrow(
      /other\.sqlite is a database of another program \(tables: trace_sessions\)/,
    );
    mkdirSync(file("folder.sqlite"));
    expect(() => createSqliteTraceStore(file("folder.sqlite"))).toThrow(/is a folder/);
    expect(() => createSqliteTraceStore(file("no/such/folder.sqlite"))).toThrow(
      /cannot be created/,
    );
  });

  it.runIf(process.platform === "linux")(
    "where nothing may be written are refused with what helps",
    () => {
      expect(() => createSqliteTraceStore("/sys/traces.sqlite")).toThrow(
        expect.objectContaining({ hint: "Give a place that this user may write to." }),
      );
    },
  );

  it("of a later version are refused", async () => {
    const path = file("later.sqlite");
    await createSqliteTraceStore(path).close();
    const db = new Libsql(path);
    db.exec("PRAGMA user_version = 3");
    db.close();
    expect(() => createSqliteTraceStore(path)).toThrow(/schema version 3.*reads 2/);
  });

  it("options out of bounds are refused", () => {
    expect(() => createSqliteTraceStore(file("a.sqlite"), { busyTimeoutMs: -1 })).toThrow(
      "busyTimeoutMs",
    );
    expect(() => createSqliteTraceStore(file("a.sqlite"), { maxBytes: 1 })).toThrow("maxBytes");
  });
});

it("is readable by its owner only", async () => {
  const path = file("private.sqlite");
  const store = createSqliteTraceStore(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600);
  await store.close();
});

describe("faults", () => {
  it("of a full disk fail the call and lose nothing else", async () => {
    const path = file("full.sqlite");
    const store = createSqliteTraceStore(path, { maxBytes: 96 * 1024 });
    const kept: string[] = [];
    let failure: unknown;
    for (let sequence = 0; failure === undefined && sequence < 100; sequence++) {
      const trace = makeTrace({ sequence, promptIds: sampleIds(2000, sequence) });
      try {
        await store.append([trace]);
        kept.push(trace.id);
      } catch (error) {
        failure = error;
      }
    }
    expect(failure).toMatchObject({ code: "STORE_FAILED", reason: "full" });
    expect(kept.length).toBeGreaterThan(5);
    expect((await store.bySession("s")).map(({ id }) => id)).toEqual(kept);
    // Room again: it goes on.
    await store.deleteSession("s");
    await store.append([makeTrace({ sessionUid: "next" })]);
    await store.close();
    const again = createSqliteTraceStore(path);
    expect(await again.bySession("next")).toHaveLength(1);
    await again.close();
  });

  it("of a busy file are waited out without stopping the process, up to a limit", async () => {
    const path = file("busy.sqlite");
    const store = createSqliteTraceStore(path, { busyTimeoutMs: 400 });
    const other = new Libsql(path);
    other.exec("BEGIN IMMEDIATE");
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    await expect(write(store, makeTrace())).rejects.toMatchObject({
      code: "STORE_FAILED",
      reason: "busy",
    });
    expect(ticks).toBeGreaterThan(20);
    const patient = store.append([makeTrace()]);
    setTimeout(() => other.exec("ROLLBACK"), 50);
    await patient;
    clearInterval(timer);
    expect(await store.bySession("s")).toHaveLength(1);
    other.close();
    await store.close();
  });

  it("of another writer are seen, not overwritten", async () => {
    const path = file("two.sqlite");
    const store = createSqliteTraceStore(path, { busyTimeoutMs: 50 });
    await store.append([makeTrace()]);
    const other = new Libsql(path);
    other.exec(
      "INSERT INTO traces SELECT id + 1, 'theirs', 1, 1, 0, NULL, NULL, 0, 0, NULL, x'00', x'', x'00' FROM traces",
    );
    await expect(write(store, makeTrace())).rejects.toMatchObject({ reason: "busy" });
    expect(other.prepare("SELECT count(*) AS n FROM traces").get()).toMatchObject({ n: 2 });
    other.close();
    await store.close();
  });
});

describe("a second gateway", () => {
  it("is refused when it opens the store, by whatever name", async () => {
    const path = file("shared.sqlite");
    const store = createSqliteTraceStore(path);
    symlinkSync(path, file("link.sqlite"));
    for (const name of [path, file("link.sqlite")]) {
      expect(() => createSqliteTraceStore(name)).toThrow(ConfigError);
      expect(() => createSqliteTraceStore(name)).toThrow(/Another gateway uses the trace store/);
    }
    await store.append([makeTrace()]);
    await store.close();
    const next = createSqliteTraceStore(path);
    expect(await next.bySession("s")).toHaveLength(1);
    await next.close();
  });

  it("is refused by a hard link, and by the name that the file got meanwhile", async () => {
    const path = file("first-name.sqlite");
    const other = file("second-name.sqlite");
    const store = createSqliteTraceStore(path);
    await store.append([makeTrace()]);
    linkSync(path, other);
    expect(() => createSqliteTraceStore(other)).toThrow(/Another gateway uses the trace store/);
    // As "mv" does it; the log stays under the old name.
    rmSync(path);
    expect(() => createSqliteTraceStore(other)).toThrow(/Another gateway uses the trace store/);
    linkSync(other, path);
    rmSync(other);
    await store.append([makeTrace({ sequence: 1 })]);
    await store.close();
    const next = createSqliteTraceStore(path);
    expect(await next.bySession("s")).toHaveLength(2);
    await next.close();
  });

  it("cannot open a file that has two names, since its log has one", async () => {
    const path = file("named.sqlite");
    const other = file("alias.sqlite");
    const code =
      `const { createSqliteTraceStore } = await import(${JSON.stringify(storeModule)});` +
      `const { makeTrace } = await import(${JSON.stringify(traceModule)});` +
      `globalThis.store = createSqliteTraceStore(${JSON.stringify(path)});` +
      `await store.append([makeTrace()]); console.log("open"); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", code]);
    await once(child.stdout, "data");
    linkSync(path, other);
    expect(() => createSqliteTraceStore(other)).toThrow(/Another gateway/);
    child.kill("SIGKILL");
    await once(child, "exit");
    // The acknowledged call is in the log of the first name.
    expect(() => createSqliteTraceStore(other)).toThrow(/has 2 names \(hard links\)/);
    rmSync(other);
    const next = createSqliteTraceStore(path);
    expect(await next.bySession("s")).toHaveLength(1);
    await next.close();
  });

  it("is refused by another process, and let in when that one was killed", async () => {
    const path = file("killed.sqlite");
    const code =
      `const { createSqliteTraceStore } = await import(${JSON.stringify(storeModule)});` +
      `globalThis.store = createSqliteTraceStore(${JSON.stringify(path)});` +
      `console.log("open"); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", code]);
    await once(child.stdout, "data");
    expect(() => createSqliteTraceStore(path)).toThrow(/Another gateway/);
    child.kill("SIGKILL");
    await once(child, "exit");
    await createSqliteTraceStore(path).close();
  });

  it("does not keep others from reading", async () => {
    const path = file("read.sqlite");
    const store = createSqliteTraceStore(path);
    await store.append([makeTrace()]);
    const reader = new Libsql(path);
    expect(reader.prepare("SELECT count(*) AS n FROM traces").get()).toMatchObject({ n: 1 });
    reader.close();
    await store.close();
  });
});

const write = async (store: TraceStore, trace: Trace): Promise<void> => store.append([trace]);

it("groups what arrives together into one commit", async () => {
  const commits: number[] = [];
  const store = createSqliteTraceStore(file("groups.sqlite"), {
    onCommit: (writes) => commits.push(writes),
  });
  await Promise.all(
    Array.from({ length: 64 }, (_, sequence) => write(store, makeTrace({ sequence }))),
  );
  expect(commits).toEqual([64]);
  await store.close();
});

it("moves its log into the file while it writes", async () => {
  const path = file("log.sqlite");
  const store = createSqliteTraceStore(path);
  const promptIds = Int32Array.from({ length: 16_384 }, (_, i) => 100_000 + i);
  const bytes = 300 * 16_384 * 2;
  for (let i = 0; i < 300; i++) await store.append([makeTrace({ sessionUid: `s${i}`, promptIds })]);
  const before = { file: statSync(path).size, log: statSync(`${path}-wal`).size };
  expect(before.file).toBeGreaterThan(bytes / 2);
  expect(before.log).toBeLessThan(bytes);
  await store.close();
});

it("opens with 100,000 traces in less than two seconds", async () => {
  const path = file("many.sqlite");
  const store = createSqliteTraceStore(path, { synchronous: "normal" });
  const perSession = 50;
  for (let session = 0; session < 2000; session++) {
    const uid = `s${session}`;
    await Promise.all([
      store.saveSession(makeSession({ uid })),
      ...Array.from({ length: perSession }, (_, sequence) =>
        write(store, makeTrace({ sessionUid: uid, sequence })),
      ),
    ]);
  }
  await store.close();
  const seconds = processorClock();
  const again = createSqliteTraceStore(path);
  const sessions = again.sessions();
  expect(await again.bySession("s1999")).toHaveLength(perSession);
  const opened = seconds();
  expect(sessions).toHaveLength(2000);
  expect(sessions.every(({ traceCount }) => traceCount === perSession)).toBe(true);
  expect(opened).toBeLessThan(2);
  await again.close();
});

it("refuses another word for how safe a commit is", () => {
  expect(() =>
    createSqliteTraceStore(join(folder, "sync.sqlite"), { synchronous: "off" as "full" }),
  ).toThrow('synchronous must be "full" or "normal", but it is "off".');
});
