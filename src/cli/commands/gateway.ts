/** `agent-trainer gateway`: runs only the capture server, until interrupted. */
import { once } from "node:events";
import { createGateway, createSqliteTraceStore, type Gateway } from "../../gateway/index.ts";
import { defined } from "../../util/defined.ts";
import { redact } from "../../util/redact.ts";
import { type CliCommand, defineCommand, Option } from "../define-command.ts";
import { startSource } from "../load/gateway-source.ts";
import { workerKeyVariable } from "../load/evaluated-model.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { portNumber, wholeNumber, repeated } from "../terminal/flag-values.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import { type CliIo, writeResult } from "../terminal/io.ts";
import { formatError } from "../terminal/report-error.ts";
import { colorsFor } from "../terminal/terminal.ts";

/** Environment variable that holds the admin token. */
const adminTokenVariable = "AGENT_TRAINER_ADMIN_TOKEN";

const help = `
Examples:
  $ agent-trainer gateway --worker http://localhost:8000/v1 --store traces.sqlite
  $ agent-trainer gateway --worker http://a:8000 --worker http://b:8000 --tokenizer ./Qwen3-4B
  $ agent-trainer gateway --builtin builtin:shop-tiny --store memory --port 0

The API key for the workers is read from ${workerKeyVariable}.

Create a session, then point the agent at its URL and API key; the agent itself needs no change:
  $ curl -X POST http://127.0.0.1:9090/sessions -H "Authorization: Bearer $ADMIN_TOKEN" -d '{}'
`;

/** How long calls in flight may take to finish after the first Ctrl-C. */
const drainMs = 10_000;

const openNotice = `warning: --open: no token is required. Every program on this machine can use the model, read
warning: all traces. Use it only for clients that cannot send a token.
`;

async function stop(gateway: Gateway, io: CliIo): Promise<void> {
  const left = await gateway.drain(drainMs);
  if (left > 0)
    io.stderr.write(
      `Calls still in flight after ${drainMs / 1000} s: ${left}. They are aborted and not recorded.\n`,
    );
  await gateway.close();
}

export const command: CliCommand = defineCommand({
  flags: (gateway) =>
    gateway
      .option("--worker <url>", "URL of an inference server; repeat the flag for several", repeated)
      .addOption(
        new Option("--kind <kind>", "server software of the workers")
          .choices(["auto", "vllm", "sglang", "llamacpp", "openai"])
          .default(undefined, "auto: detected per worker"),
      )
      .option(
        "--tokenizer <path>",
        "folder or .gguf file of the workers' model; prompts are then sent as token ids",
      )
      .option("--builtin <model>", "serve this model from the embedded engine instead of workers")
      .option("--store <file>", 'SQLite file for the traces, or "memory"', "traces.sqlite")
      .addOption(
        new Option(
          "--store-sync <mode>",
          "SQLite durability: full survives a power loss; normal is faster and survives a crash of the process",
        )
          .choices(["full", "normal"])
          .default("full"),
      )
      .option("--host <address>", "address to listen on", "127.0.0.1")
      .option("--port <n>", "port to listen on; 0 picks a free one", portNumber, 9090)
      .option(
        "--admin-token <token>",
        `token for the admin routes; generated and printed when not set [env: ${adminTokenVariable}]`,
      )
      .option("--open", "require no tokens; loopback only, for clients that cannot send one")
      .option(
        "--model <name>",
        "model name reported in responses (default: the name of the worker's or built-in model)",
      )
      .option(
        "--session-idle <s>",
        "close sessions without a call for this many seconds (default: never)",
        wholeNumber(1),
      ),
  help,
  async run(_, given, io) {
    const {
      store: file,
      storeSync,
      json = false,
      quiet = false,
      verbose = false,
      ...flags
    } = given;
    using interrupt = watchInterrupt(
      io,
      "Stopping: waiting for calls in flight. Press Ctrl-C again to quit immediately.",
    );
    const token = flags.adminToken ?? process.env[adminTokenVariable];
    const colors = colorsFor(io.stderr);
    const store =
      file === "memory" ? undefined : createSqliteTraceStore(file, { synchronous: storeSync });
    try {
      const onWarning = (message: string): void =>
        void io.stderr.write(`warning: ${redact(message)}\n`);
      await using source = await startSource(flags, interrupt.signal, onWarning);
      const gateway = createGateway({
        target: source.target,
        model: flags.model ?? source.model,
        ...defined({
          store,
          adminToken: token === "" ? undefined : token,
          open: flags.open,
          sessionIdleMs: flags.sessionIdle === undefined ? undefined : flags.sessionIdle * 1000,
        }),
        onWarning,
        onError: (error) => {
          io.stderr.write(redact(formatError(error, colors, verbose)));
        },
      });
      try {
        const { url } = await gateway.listen({ host: flags.host, port: flags.port });
        if (!quiet) for (const note of source.notes) io.stderr.write(`${note}\n`);
        writeResult(io, json, { url, store: file }, `${url}\n`);
        if (flags.open === true) io.stderr.write(openNotice);
        // The only place where the token is shown.
        else if ((token ?? "") === "") io.stderr.write(`admin token: ${gateway.adminToken}\n`);
        if (!quiet)
          io.stderr.write(
            `Traces are stored in ${file}. POST ${url}/sessions creates a session. Press Ctrl-C to stop the gateway.\n`,
          );
        if (!interrupt.signal.aborted) await once(interrupt.signal, "abort");
      } finally {
        await stop(gateway, io);
      }
    } finally {
      await store?.close();
    }
    return exitCodes.done;
  },
});
