/** `agent-trainer model export`: a model for vLLM, llama.cpp or Ollama. */
import { ggufFormats } from "../../engine/checkpoint/gguf/gguf-format.ts";
import { type CliCommand, defineCommand, Option } from "../define-command.ts";
import { adapterHelp } from "../load/with-model.ts";
import { exportParts, ownFormatHelp, writeModel } from "../load/write-model.ts";

export const command: CliCommand = defineCommand({
  flags: (exported) =>
    exported
      .argument("<model>")
      .addOption(
        new Option("--format <format>", "hf: a folder in Hugging Face layout; gguf: one file")
          .choices(["hf", "gguf"])
          .makeOptionMandatory(),
      )
      .option(
        "--into <path>",
        "file or folder to write; must not exist (default: in the current folder, named after the model)",
      )
      .option("--base <model>", "base model of an adapter (default: the one the adapter names)")
      .option("--adapter <name>", adapterHelp)
      .addOption(
        new Option(
          "--part <part>",
          "of a model with a LoRA adapter: merged, both in one; base, without the adapter, rounded as in training; adapter, alone, for llama.cpp's --lora",
        )
          .choices(exportParts)
          .default("merged"),
      )
      .addOption(
        new Option(
          "--dtype <type>",
          `number format of the written weights (default: f16 for gguf, f32 for an adapter; for hf ${ownFormatHelp})`,
        ).choices(ggufFormats),
      ),
  run: ([model], flags, io) => writeModel(model, flags, io),
});
