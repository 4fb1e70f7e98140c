/** Opens a model for a command, with the progress of its download and of what is written. */
import { defined } from "../../util/defined.ts";
import { createByteProgress } from "../terminal/byte-progress.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import type { CliIo } from "../terminal/io.ts";
import { openModel, type OpenedModel, type OpenModelOptions } from "./open-model.ts";

export interface OpeningFlags {
  readonly base?: string | undefined;
  readonly adapter?: string | undefined;
  readonly quiet?: boolean | undefined;
}

export const adapterHelp =
  "of a run whose roles have separate adapters (model.adapter_by_role): which one, or default";

/** Resolves with what `use` does. */
export async function withModel(
  spec: string,
  { base, adapter, quiet = false }: OpeningFlags,
  io: CliIo,
  use: (
    model: OpenedModel,
    signal: AbortSignal,
    show: (done: number, total: number) => void,
  ) => Promise<number>,
): Promise<number> {
  using interrupt = watchInterrupt(io, "Stopping.");
  const progress = createByteProgress({ stream: io.stderr, isQuiet: quiet });
  const options: OpenModelOptions = {
    signal: interrupt.signal,
    onProgress: ({ file, doneBytes, totalBytes }) => progress.report(file, doneBytes, totalBytes),
    onRetry: (message) => progress.warn(message),
    onWarning: (message) => progress.warn(message),
    ...defined({ base, adapter }),
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
