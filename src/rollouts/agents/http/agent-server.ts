/** The process of an HTTP agent: started with the first rollout, and again where it has ended. */
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { delay, raceAbort } from "../../../util/abort.ts";
import { defined } from "../../../util/defined.ts";
import { freePort } from "../../../util/process/free-port.ts";
import { runLimited } from "../../../util/process/limited-process.ts";
import { cannotStart } from "../process/agent-failed.ts";
import { commandWords } from "../process/command-words.ts";
import { inheritedVariables } from "../process/inherited-variables.ts";
import { quietVariables } from "../process/model-variables.ts";

/** What starts the server. */
export interface ServerCommand {
  readonly command: string | readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly passEnv: readonly string[];
  readonly memoryMb: number | undefined;
  readonly readyMs: number;
}

/** A server that takes connections. */
export interface RunningServer {
  readonly port: number;
  readonly key: string;
  /** Whether it has ended. */
  hasEnded(): boolean;
  /** Resolves when it has ended, and after `endingMs` at the latest: a cut connection may come first. */
  whenEnding(signal: AbortSignal): Promise<void>;
  /** What it wrote last. */
  tail(): string;
  stop(): Promise<void>;
}

const tryMs = 50;
const endingMs = 3000;
const tailBytes = 65_536;

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const end = (is: boolean) => () => {
      socket.destroy();
      resolve(is);
    };
    socket.once("connect", end(true));
    socket.once("error", end(false));
  });
}

/** @throws AgentTrainerError (`ROLLOUT_FAILED`) when it ends, or takes no connection within `readyMs`. */
export async function startServer(command: ServerCommand): Promise<RunningServer> {
  const argv = commandWords(command.command, command.folder);
  const port = await freePort();
  const key = randomBytes(24).toString("hex");
  const stopping = new AbortController();
  let tail = "";
  let hasEnded = false;
  const ending = runLimited(
    {
      argv,
      cwd: command.folder,
      env: {
        ...inheritedVariables(command.passEnv, command.folder),
        ...defined({ HOME: process.env["HOME"], TMPDIR: process.env["TMPDIR"] }),
        ...quietVariables,
        ...command.env,
        HOST: "127.0.0.1",
        PORT: String(port),
        AGENT_TRAINER_AGENT_KEY: key,
      },
      endsAll: true,
    },
    {
      ...defined({ memoryMb: command.memoryMb }),
      pollMs: 500,
      graceMs: 2000,
      signal: stopping.signal,
      onOutput: (text) => {
        tail = (tail + text).slice(-tailBytes);
      },
    },
  ).then(
    ({ ended, exitCode, signal }) => {
      hasEnded = true;
      return `${tail}\n(${ended === "exit" ? `exit status ${exitCode ?? signal}` : ended})`;
    },
    (error: unknown) => {
      hasEnded = true;
      return error instanceof Error ? error.message : String(error);
    },
  );
  const stop = async (): Promise<void> => {
    stopping.abort();
    await ending;
  };
  const deadline = AbortSignal.timeout(command.readyMs);
  try {
    while (!(await accepts(port))) {
      if (hasEnded) throw cannotStart(argv.join(" "), await ending);
      await raceAbort(delay(tryMs, deadline), deadline);
    }
  } catch (error) {
    await stop();
    if (!deadline.aborted) throw error;
    const why = `it took no connection at 127.0.0.1:${port}, its PORT, within ${command.readyMs} ms. ${tail}`;
    throw cannotStart(argv.join(" "), why);
  }
  const whenEnding = async (signal: AbortSignal): Promise<void> => {
    await Promise.race([ending, delay(endingMs, signal)]);
  };
  return { port, key, hasEnded: () => hasEnded, whenEnding, tail: () => tail, stop };
}
