/** `agent-trainer collect`: traces and feedback of production into a folder, from programs or from files. */
import { once } from "node:events";
import { ConfigError } from "../../core/errors.ts";
import { isLoopback } from "../../http/local-clients.ts";
import { fetchServer, listen } from "../../http/listen.ts";
import { importFile, importFormats } from "../../production/import/import-file.ts";
import { type CollectCounts, emptyCounts } from "../../production/receiver/keep-otlp.ts";
import { createReceiver } from "../../production/receiver/receiver.ts";
import { ProductionStore } from "../../production/store/production-store.ts";
import { defined } from "../../util/defined.ts";
import { type CliCommand, defineCommand, Option } from "../define-command.ts";
import { ownFormats, importOwn } from "../../launch/own-calls.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { portNumber, wholeNumber } from "../terminal/flag-values.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import { type CliIo, writeResult } from "../terminal/io.ts";

/** Environment variable that holds the key. */
const collectKeyVariable = "AGENT_TRAINER_COLLECT_KEY";
const graceMs = 5000;

const help = `
Without files it listens, and takes OTLP over HTTP (JSON and protobuf) and feedback:
  $ agent-trainer collect production
  $ export OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318
  $ curl -X POST http://127.0.0.1:4318/feedback -d '{"traceId": "...", "thumb": "down"}'

With files it adds what is in them. Formats:
  otel            OTLP JSON, as a collector's file exporter writes it: GenAI conventions, AI SDK, OpenInference
  langfuse, langsmith, braintrust, helicone
                  exports of these services, a row per line, or a .json file
  openai          conversations in OpenAI's chat format
  feedback        a record of feedback per line
  gateway         the SQLite file of agent-trainer gateway
  run             the folder of a run or an evaluation

Examples:
  $ agent-trainer collect production traces.jsonl --format otel
  $ agent-trainer collect production thumbs.jsonl --format feedback
  $ agent-trainer curate production --output curated
`;

/** @throws ConfigError for an address that others reach, without a key. */
function checkKey(key: string | null, host: string): void {
  if (key !== null || isLoopback(host)) return;
  throw new ConfigError({
    message: `Everyone who reaches ${host} could add to the folder, since no key is set.`,
    hint: `Set a key with --key or ${collectKeyVariable}, or listen on 127.0.0.1.`,
    fields: { option: "host", value: host },
  });
}

function countsText(counts: CollectCounts): string {
  const { spans, modelCalls, feedback, known, rejected, withoutText } = counts;
  const notes = [
    `${spans} spans, of them ${modelCalls} model calls; ${feedback} pieces of feedback`,
    ...(known === 0 ? [] : [`${known} pieces of feedback were there already`]),
    ...(rejected === 0 ? [] : [`${rejected} could not be read: see rejected.jsonl`]),
    ...(withoutText === 0
      ? []
      : [
          `${withoutText} model calls have no text, so nothing can be learned from them: turn on the recording of content in the program`,
        ]),
  ];
  return `${notes.join("\n")}\n`;
}

interface ServeFlags {
  readonly host: string;
  readonly port: number;
  readonly key?: string | undefined;
  readonly maxBodyMib: number;
  readonly json?: true | undefined;
  readonly quiet?: true | undefined;
}

async function serve(store: ProductionStore, flags: ServeFlags, io: CliIo): Promise<CollectCounts> {
  const key = flags.key ?? process.env[collectKeyVariable] ?? "";
  checkKey(key === "" ? null : key, flags.host);
  using interrupt = watchInterrupt(io, "Stopping: waiting for requests in flight.");
  const receiver = createReceiver({
    store,
    key: key === "" ? null : key,
    maxBodyBytes: flags.maxBodyMib * 2 ** 20,
  });
  const server = await listen(
    fetchServer((request) => receiver.fetch(request), flags.host),
    {
      name: "The receiver",
      host: flags.host,
      port: flags.port,
      graceMs,
    },
  );
  writeResult(io, flags.json, { url: server.url, folder: store.folder }, `${server.url}\n`);
  if (flags.quiet !== true)
    io.stderr.write(
      `Traces at ${server.url}/v1/traces and feedback at ${server.url}/feedback go to ${store.folder}. Press Ctrl-C to stop.\n`,
    );
  if (!interrupt.signal.aborted) await once(interrupt.signal, "abort");
  await server.close();
  return receiver.counts;
}

/** Resolves once all is on the disk. */
export const command: CliCommand = defineCommand({
  flags: (collect) =>
    collect
      .argument("<folder>", "folder that keeps them; it is made, and only ever added to")
      .argument("[files...]", "files to add, all in one format; without any, it listens")
      .addOption(
        new Option("--format <name>", "format of the files").choices([
          ...importFormats,
          ...ownFormats,
        ]),
      )
      .option(
        "--rating <name>",
        "name of a score in the files that is a rating, besides those that say so, such as user-feedback",
      )
      .option(
        "--host <address>",
        "address to listen on; others than 127.0.0.1 need a key",
        "127.0.0.1",
      )
      .option("--port <n>", "port to listen on; 0 picks a free one", portNumber, 4318)
      .option(
        "--key <key>",
        `key that programs must send as Authorization: Bearer KEY; without one, only programs of this machine are served [env: ${collectKeyVariable}]`,
      )
      .option("--max-body-mib <n>", "maximum request body in MiB", wholeNumber(1), 16)
      .option(
        "--max-gib <n>",
        "maximum size of the folder in GiB; what would exceed it is refused",
        wholeNumber(1),
        64,
      ),
  help,
  async run([folder, files], { format, rating, maxGib, ...flags }, io) {
    if (files.length > 0 !== (format !== undefined)) {
      throw new ConfigError({
        message: format === undefined ? "Files need a --format." : "--format needs files to read.",
        hint: "For example: agent-trainer collect production traces.jsonl --format otel",
      });
    }
    const store = new ProductionStore(folder, { maxBytes: maxGib * 2 ** 30 });
    try {
      if (format === undefined) {
        const counts = await serve(store, flags, io);
        if (flags.quiet !== true) io.stderr.write(countsText(counts));
        return exitCodes.done;
      }
      const counts = emptyCounts();
      using interrupt = watchInterrupt(io, "Stopping: what was read so far is kept.");
      const options = { store, format, counts, ...defined({ rating }), signal: interrupt.signal };
      for (const file of files) {
        if (ownFormats.includes(format)) await importOwn(file, options);
        else await importFile(file, options);
      }
      writeResult(io, flags.json, { folder, ...counts }, `${folder}: ${countsText(counts)}`);
      return exitCodes.done;
    } finally {
      await store.close();
    }
  },
});
