/** `agent-trainer model pull`: a model from a hub into its cache. */
import { basename } from "node:path";
import { ConfigError } from "../../core/errors.ts";
import { parseModelId } from "../../models/hub/model-id.ts";
import { pullModel } from "../../models/hub/pull-model.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { createByteProgress, formatBytes } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import { writeResult } from "../terminal/io.ts";

const help = `
HF_HOME, HF_HUB_CACHE, HF_TOKEN, HF_ENDPOINT and HF_HUB_OFFLINE work as in Hugging Face's tools.
`;

export const command: CliCommand = defineCommand({
  flags: (pull) => pull.argument("<id>", "OWNER/NAME[@REVISION][:FILE.gguf]"),
  help,
  async run([name], { json = false, quiet = false }, io) {
    const id = parseModelId(name);
    if (id === null) {
      throw new ConfigError({
        message: `"${name}" is not the name of a model on a hub.`,
        hint: "Use OWNER/NAME, OWNER/NAME@REVISION or OWNER/NAME:FILE.gguf.",
        fields: { name },
      });
    }
    using interrupt = watchInterrupt(io, "Stopping; the next pull will resume from here.");
    const progress = createByteProgress({ stream: io.stderr, isQuiet: quiet });
    try {
      const pulled = await pullModel(id, {
        signal: interrupt.signal,
        onProgress: ({ file, doneBytes, totalBytes }) =>
          progress.report(file, doneBytes, totalBytes),
        onRetry: (message) => progress.warn(message),
      });
      progress.clear();
      if (!quiet)
        io.stderr.write(
          `${basename(id.repository)} at ${pulled.commit}, ${formatBytes(pulled.bytes)}\n`,
        );
      writeResult(io, json, { name, ...pulled }, `${pulled.path}\n`);
      return exitCodes.done;
    } finally {
      progress.clear();
    }
  },
});
