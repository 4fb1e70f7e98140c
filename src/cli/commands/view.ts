/** `agent-trainer view`: runs in the browser until interrupted, or one of them as an HTML file. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ConfigError } from "../../core/errors.ts";
import { writeFileAtomicSync } from "../../util/files/atomic-write.ts";
import type { IndexState } from "../../view/api/episodes.ts";
import { exportHtml } from "../../view/html/export-html.ts";
import { startViewServer } from "../../view/server/view-server.ts";
import { isViewable, ViewedRun, viewableIn } from "../../view/server/viewed-run.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { createFeedbackReader } from "../load/feedback-by-version.ts";
import { findTokenDecoder } from "../load/token-decoder.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { portNumber, wholeNumber } from "../terminal/flag-values.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import { type CliIo, writeResult } from "../terminal/io.ts";
import { createLiveLine } from "../terminal/live-line.ts";
import { formatError } from "../terminal/report-error.ts";
import { colorsFor } from "../terminal/terminal.ts";
import { startProcess } from "../../util/process/start-process.ts";
import { formatBytes } from "../terminal/byte-progress.ts";

const help = `
The page is served to this machine only, at a URL that holds a token; nothing is loaded from the network. An index is
kept in the run's folder as index.db; it can be deleted, and is made anew.

Examples:
  $ agent-trainer view
  $ agent-trainer view runs/shop
  $ agent-trainer view experiments evals
  $ agent-trainer view runs/shop runs/shop-lora --port 8080
  $ agent-trainer view runs/shop --html shop.html
`;

/** The built page: next to the compiled command, or in `dist/` when it runs from sources. */
function assetsFolder(): string {
  const places = ["../../view/assets/", "../../../dist/view/assets/"];
  const folders = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const found = folders.find((folder) => existsSync(join(folder, "app.js")));
  if (found !== undefined) return found;
  throw new ConfigError({
    message: "The viewer's page has not been built.",
    hint: "Run npm run build, or use --html FILE, which needs no page.",
  });
}

const runsFolder = "runs";

/** Of a folder of runs, all of them, the one written last first. */
function foldersOf(given: readonly string[]): readonly string[] {
  const found = (given.length === 0 ? [runsFolder] : given).flatMap((name) => {
    const inRuns = join(runsFolder, name);
    const folder = !existsSync(name) && existsSync(inRuns) ? inRuns : name;
    if (isViewable(folder)) return [folder];
    const below = viewableIn(folder);
    // The viewer says what is wrong with a folder that holds none.
    return below.length === 0 && given.length > 0 ? [folder] : newestFirst(below);
  });
  if (found.length > 0) return [...new Set(found)];
  throw new ConfigError({
    message: `The folder ${runsFolder} holds no run to view.`,
    hint: "Name the folder of a run, or one of runs: agent-trainer view RUN",
  });
}

function newestFirst(folders: readonly string[]): readonly string[] {
  const writtenAt = (folder: string): number =>
    Math.max(
      ...["metrics.jsonl", "events.jsonl", ""].map(
        (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
      ),
    );
  const timed = folders.map((folder) => ({ folder, time: writtenAt(folder) }));
  return timed.sort((a, b) => b.time - a.time).map(({ folder }) => folder);
}

/** How far the index is, on a line that is rewritten, or at its end only. */
function indexProgress(io: CliIo, isQuiet: boolean): (folder: string, state: IndexState) => void {
  const line = createLiveLine({ stream: io.stderr, isQuiet });
  let writtenAt = 0;
  return (_folder, { calls, bytesRead, bytesTotal }) => {
    if (Date.now() - writtenAt < 200) return;
    writtenAt = Date.now();
    const share = Math.floor((100 * bytesRead) / Math.max(1, bytesTotal));
    const isDone = bytesRead >= bytesTotal;
    if (isDone) line.clear();
    else line.show([`index ${share} % of ${formatBytes(bytesTotal)}, ${calls} calls`]);
  };
}

function openBrowser(url: string): void {
  const [program, ...before] =
    process.platform === "darwin"
      ? ["open"]
      : process.platform === "win32"
        ? ["rundll32", "url.dll,FileProtocolHandler"]
        : ["xdg-open"];
  const browser = startProcess({
    argv: [program ?? "", ...before, url],
    env: process.env,
    stdio: "ignore",
    mayStay: true,
  });
  // Without a browser, the URL on stdout is enough.
  browser.child.on("error", () => undefined);
  browser.release();
}

interface HtmlFlags {
  readonly limit: number;
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
}

async function writeHtml(
  folder: string,
  file: string,
  flags: HtmlFlags,
  io: CliIo,
): Promise<number> {
  using run = new ViewedRun(folder, 0, findTokenDecoder);
  const onProgress = indexProgress(io, flags.quiet === true);
  await run.index.extend((state) => {
    onProgress(folder, state);
  });
  const { text, episodes, shortened } = await exportHtml(folder, run.index, {}, flags.limit);
  writeFileAtomicSync(file, text, { temporary: `${file}.tmp` });
  const bytes = Buffer.byteLength(text);
  const result = { file, episodes, shortened, bytes };
  writeResult(
    io,
    flags.json,
    result,
    `${file}: ${episodes} episodes, ${formatBytes(bytes)}${shortened === 0 ? "" : `, ${shortened} with shortened texts`}\n`,
  );
  return exitCodes.done;
}

/** Resolves after the file is written, or once the server has stopped. */
export const command: CliCommand = defineCommand({
  flags: (view) =>
    view
      .argument(
        "[runs...]",
        "folders of runs or evaluations, or folders that hold them (default: runs)",
      )
      .option("--port <port>", "port to listen on; 0 takes a free one", portNumber, 0)
      .option("--host <host>", "address to listen on", "127.0.0.1")
      .option("--open", "open the page in the default browser")
      .option(
        "--html <file>",
        "write one run as a file that needs no server and no scripts, then exit",
      )
      .option("--limit <n>", "with --html: newest episodes to write", wholeNumber(1), 200),
  help,
  async run([runs], flags, io) {
    const folders = foldersOf(runs);
    if (flags.html !== undefined) {
      const [folder, another] = folders;
      if (folder === undefined || another !== undefined)
        throw new ConfigError({
          message: `--html writes one run, but there are ${folders.length}.`,
          hint: `Name one: agent-trainer view ${folder ?? "RUN"} --html ${flags.html}`,
        });
      return writeHtml(folder, flags.html, flags, io);
    }
    using interrupt = watchInterrupt(io, "Stopping. Press Ctrl-C again to quit immediately.");
    const token = randomBytes(24).toString("base64url");
    const colors = colorsFor(io.stderr);
    await using server = await startViewServer({
      folders,
      host: flags.host,
      port: flags.port,
      token,
      assets: assetsFolder(),
      findDecoder: findTokenDecoder,
      findFeedback: createFeedbackReader(),
      onProgress: indexProgress(io, flags.quiet === true),
      onError: (error) => void io.stderr.write(formatError(error, colors, flags.verbose === true)),
    });
    const url = `${server.url}/?token=${token}`;
    writeResult(io, flags.json, { url, runs: folders }, `${url}\n`);
    if (flags.quiet !== true)
      io.stderr.write(
        `Viewing ${folders.length === 1 ? folders[0] : `${folders.length} runs`}. Press Ctrl-C to stop.\n`,
      );
    if (flags.open === true) openBrowser(url);
    if (!interrupt.signal.aborted) await once(interrupt.signal, "abort");
    return exitCodes.done;
  },
});
