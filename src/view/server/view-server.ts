/** The viewer on a socket. */
import { fetchServer, listen } from "../../http/listen.ts";
import { createViewApp } from "./app.ts";
import type { FindFeedback } from "./rounds.ts";
import { type FindDecoder, ViewedRun } from "./viewed-run.ts";
import type { IndexState } from "../api/episodes.ts";

export interface ViewServerOptions {
  readonly folders: readonly string[];
  readonly host: string;
  readonly port: number;
  readonly token: string;
  /** Folder with the built page. */
  readonly assets: string;
  readonly findDecoder: FindDecoder;
  /** What users said of the models of rounds. @default nothing is known */
  readonly findFeedback?: FindFeedback;
  /** How often the runs are looked at, in milliseconds. @default 1000 */
  readonly pollMs?: number;
  readonly onProgress?: (folder: string, state: IndexState) => void;
  readonly onError?: (error: unknown) => void;
}

export interface ViewServer extends AsyncDisposable {
  /** Without the token. */
  readonly url: string;
  /** Resolves when everything that was on disk at the start is in the index. */
  readonly ready: Promise<void>;
}

/** @throws ConfigError when a folder holds no run, or the port is taken. */
export async function startViewServer(options: ViewServerOptions): Promise<ViewServer> {
  const { folders, host, token, assets, findDecoder, pollMs = 1000 } = options;
  const runs: ViewedRun[] = [];
  const closeRuns = (): void => {
    for (const run of runs) run[Symbol.dispose]();
  };
  try {
    for (const [key, folder] of folders.entries())
      runs.push(new ViewedRun(folder, key, findDecoder));
    const app = createViewApp({
      runs,
      token,
      host,
      assets,
      findFeedback: options.findFeedback,
      pollMs,
    });
    const server = await listen(fetchServer(app.fetch, host), {
      name: "The viewer",
      host,
      port: options.port,
    });
    let extending: Promise<void> = Promise.resolve();
    const extendAll = async (): Promise<void> => {
      for (const run of runs) {
        await run.index
          .extend((state) => options.onProgress?.(run.folder, state))
          .catch((error: unknown) => options.onError?.(error));
      }
    };
    const ready = (extending = extendAll());
    let isExtending = true;
    void ready.then(() => (isExtending = false));
    const timer = setInterval(() => {
      if (isExtending) return;
      isExtending = true;
      extending = extendAll().finally(() => (isExtending = false));
    }, pollMs);
    return {
      url: server.url,
      ready,
      async [Symbol.asyncDispose]() {
        clearInterval(timer);
        await server.close();
        for (const run of runs) run.index.stop();
        await extending;
        closeRuns();
      },
    };
  } catch (error) {
    closeRuns();
    throw error;
  }
}
