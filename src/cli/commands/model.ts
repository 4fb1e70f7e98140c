/** `agent-trainer model inspect` and `pull`, and what all commands of `model` share. */
import { basename } from "node:path";
import { ConfigError } from "../../core/errors.ts";
import { parseModelId } from "../../models/hub/model-id.ts";
import { pullModel } from "../../models/hub/pull-model.ts";
import { createByteProgress, formatBytes } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import type { CliIo } from "../terminal/io.ts";
import { formatReport } from "../report/format-model-report.ts";
import { reportModel } from "../report/model-report.ts";
import { openModel, type OpenedModel, type OpenModelOptions } from "../load/open-model.ts";
import { defined } from "../../util/defined.ts";

export interface ModelFlags {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly base?: string;
}

export function printResult(io: CliIo, flags: ModelFlags, result: object, text: string): number {
  io.stdout.write(flags.json === true ? `${JSON.stringify(result)}\n` : text);
  return exitCodes.done;
}

/** Opens a model, showing download progress, and passes it to `use`. */
export async function withModel(
  spec: string,
  flags: ModelFlags,
  io: CliIo,
  use: (
    model: OpenedModel,
    signal: AbortSignal,
    show: (done: number, total: number) => void,
  ) => Promise<number>,
): Promise<number> {
  using interrupt = watchInterrupt(() => io.stderr.write("Stopping.\n"));
  const progress = createByteProgress({ stream: io.stderr, isQuiet: flags.quiet === true });
  const options: OpenModelOptions = {
    signal: interrupt.signal,
    onProgress: ({ file, doneBytes, totalBytes }) => progress.report(file, doneBytes, totalBytes),
    onWarning: (text) => io.stderr.write(`warning: ${text}\n`),
    ...defined({ base: flags.base }),
  };
  try {
    const model = await openModel(spec, options);
    const bytes = [...model.source.tensors.values()].reduce((sum, { length }) => sum + length, 0);
    return await use(model, interrupt.signal, (done, total) =>
      progress.report("written", (done / total) * bytes, bytes),
    );
  } finally {
    progress.clear();
  }
}

/** `model inspect MODEL`; resolves with 1 when the local backend cannot use it. */
export function inspectCommand(spec: string, flags: ModelFlags, io: CliIo): Promise<number> {
  return withModel(spec, flags, io, async (model) => {
    const report = await reportModel(model);
    printResult(io, flags, report, formatReport(report, io));
    return report.problems.length === 0 ? exitCodes.done : exitCodes.failed;
  });
}

/** `model pull OWNER/NAME[@REV][:FILE.gguf]` */
export async function pullCommand(name: string, flags: ModelFlags, io: CliIo): Promise<number> {
  const id = parseModelId(name);
  if (id === null) {
    throw new ConfigError({
      message: `"${name}" is not the name of a model on a hub.`,
      hint: "Use OWNER/NAME, OWNER/NAME@REVISION or OWNER/NAME:FILE.gguf.",
      fields: { name },
    });
  }
  using interrupt = watchInterrupt(() =>
    io.stderr.write("Stopping; the next pull will resume from here.\n"),
  );
  const progress = createByteProgress({ stream: io.stderr, isQuiet: flags.quiet === true });
  try {
    const pulled = await pullModel(id, {
      signal: interrupt.signal,
      onProgress: ({ file, doneBytes, totalBytes }) => progress.report(file, doneBytes, totalBytes),
    });
    progress.clear();
    if (flags.quiet !== true)
      io.stderr.write(
        `${basename(id.repository)} at ${pulled.commit}, ${formatBytes(pulled.bytes)}\n`,
      );
    return printResult(io, flags, { name, ...pulled }, `${pulled.path}\n`);
  } finally {
    progress.clear();
  }
}
