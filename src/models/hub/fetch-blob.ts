/**
 * Fetches one file into the cache: resumes where an earlier attempt, of this process or another one,
 * was cut off, and gives the file its name only when its content has the hash that the hub announced.
 */
import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { mkdir, open, rm, stat, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { HubError } from "./hub-error.ts";
import {
  requestHub,
  silenceDeadline,
  unreachable,
  withRetries,
  type HubConnection,
  type NoteProgress,
} from "./hub-request.ts";
import type { ModelId } from "./model-id.ts";
import type { RemoteFile } from "./remote-files.ts";
import { rename } from "../../util/files/rename.ts";

export interface FetchBlob {
  readonly hub: HubConnection;
  readonly id: ModelId;
  readonly file: RemoteFile;
  readonly blob: string;
  readonly signal: AbortSignal;
  /** Bytes that are there now. */
  readonly onBytes: (count: number) => void;
}

/** @throws HubError */
export async function fetchBlob(fetching: FetchBlob): Promise<void> {
  const { hub, file, blob, signal, onBytes } = fetching;
  if (existsSync(blob)) return onBytes(file.size);
  await mkdir(dirname(blob), { recursive: true });
  const partial = `${blob}.incomplete`;
  // What was left behind may be damaged; what was fetched in one go is not.
  for (const isLast of [false, true]) {
    const resumed = await sizeOf(partial);
    await withRetries(hub, signal, (noteProgress) => fetchRest(fetching, partial, noteProgress));
    const found = await hashOf(partial, file, signal);
    if (found === file.hash) {
      return rename(partial, blob).catch((error: unknown) => {
        // Another process fetched it, too, and was quicker.
        if (!existsSync(blob)) throw error;
      });
    }
    await rm(partial, { force: true });
    onBytes(0);
    if (isLast || resumed === 0) throw damaged(file, found);
  }
}

function damaged({ name, url, hash }: RemoteFile, found: string): HubError {
  return new HubError({
    reason: "damaged",
    message: `${name} came with the hash ${found}, but the hub announced ${hash}; it was thrown away.`,
    hint: "Pull again. If it happens again, something on the way changes files.",
    fields: { url, expected: hash, found },
  });
}

function tooLarge({ name, url, size }: RemoteFile): HubError {
  return new HubError({
    reason: "damaged",
    message: `${name} is longer than the ${size} bytes that the hub announced; it was thrown away.`,
    hint: "Pull again. If it happens again, something on the way changes files.",
    fields: { url, expected: size },
  });
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

async function fetchRest(
  { hub, id, file, signal, onBytes }: FetchBlob,
  partial: string,
  noteProgress: NoteProgress,
): Promise<void> {
  const handle = await open(partial, "a");
  const silence = silenceDeadline(hub, signal);
  try {
    let done = (await handle.stat()).size;
    if (done > file.size) done = await restart(handle);
    if (done === file.size) return onBytes(done);
    const headers: Record<string, string> = done === 0 ? {} : { range: `bytes=${done}-` };
    const response = await requestHub(hub, { url: file.url, id, headers, signal: silence.signal });
    // A server without ranges starts from the beginning.
    const start = /^bytes (\d+)-/u.exec(response.headers.get("content-range") ?? "")?.[1];
    if (response.status !== 206 || Number(start) !== done) done = await restart(handle);
    try {
      for await (const chunk of response.body ?? []) {
        silence.restart();
        if (done + (chunk as Uint8Array).length > file.size) throw tooLarge(file);
        await handle.appendFile(chunk as Uint8Array);
        onBytes((done += (chunk as Uint8Array).length));
        noteProgress();
      }
    } catch (cause) {
      if (cause instanceof HubError) {
        await restart(handle);
        throw cause;
      }
      throw unreachable(hub, file.url, cause);
    }
    if (done < file.size)
      throw unreachable(hub, file.url, new Error(`it ended after ${done} of ${file.size} bytes`));
    await handle.sync();
  } finally {
    silence.dispose();
    await handle.close();
  }
}

async function restart(handle: FileHandle): Promise<number> {
  await handle.truncate(0);
  return 0;
}

/** SHA-256, or for small files the SHA-1 that git gives a blob. */
async function hashOf(path: string, { hash }: RemoteFile, signal: AbortSignal): Promise<string> {
  const isLarge = hash.length === 64;
  const digest = createHash(isLarge ? "sha256" : "sha1");
  if (!isLarge) digest.update(`blob ${await sizeOf(path)}\0`);
  for await (const chunk of createReadStream(path, { signal })) digest.update(chunk as Buffer);
  return digest.digest("hex");
}
