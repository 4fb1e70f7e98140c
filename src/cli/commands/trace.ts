/** `agent-trainer trace`, which is now `show`; to be removed after version 0.1. */
import { ConfigError } from "../../core/errors.ts";
import { defineCommand, type CliCommand } from "../define-command.ts";

export const command: CliCommand = defineCommand({
  flags: (trace) => trace.argument("[words...]").allowUnknownOption(),
  run() {
    throw new ConfigError({
      message: "trace is now a part of show.",
      hint: "Run: agent-trainer show [RUN] [EPISODE], with --tokens, --markdown or --replay",
    });
  },
});
