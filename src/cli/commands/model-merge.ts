/** `agent-trainer model merge`: an adapter and its base model as one. */
import { numberFormats } from "../../engine/checkpoint/number-format.ts";
import { type CliCommand, defineCommand, Option } from "../define-command.ts";
import { adapterHelp } from "../load/with-model.ts";
import { ownFormatHelp, writeModel } from "../load/write-model.ts";

export const command: CliCommand = defineCommand({
  flags: (merge) =>
    merge
      .argument("<adapter>")
      .requiredOption("--into <folder>", "folder to write the merged model to; must not exist")
      .option("--base <model>", "base model of the adapter (default: the one the adapter names)")
      .option("--adapter <name>", adapterHelp)
      .addOption(
        new Option(
          "--dtype <type>",
          `number format of the written weights (default: ${ownFormatHelp})`,
        ).choices(numberFormats),
      ),
  run: ([adapter], flags, io) => writeModel(adapter, { ...flags, format: "hf" }, io),
});
