/** Flags and help of `agent-trainer model`; the commands are in `model.ts`, loaded on demand. */
import { type Command, Option } from "commander";
import { ggufFormats } from "../../engine/checkpoint/gguf/gguf-format.ts";
import { numberFormats } from "../../engine/checkpoint/number-format.ts";
import type { CliIo } from "../terminal/io.ts";
import type { ModelFlags } from "./model.ts";
import type { ExportFlags, ExportPart, MergeFlags } from "./model-export.ts";

/** Creates a command with the flags that all commands share. */
export type MakeCommand = (parent: Command, name: string, description: string) => Command;

const groupHelp = `
A MODEL is a folder in Hugging Face layout, a .gguf file, OWNER/NAME on a hub, builtin:shop-tiny, a
run folder, a checkpoint in it, or a LoRA adapter.

Examples:
  $ agent-trainer model pull HuggingFaceTB/SmolLM2-135M-Instruct
  $ agent-trainer model inspect ./SmolLM2-135M-Instruct.Q4_1.gguf
  $ agent-trainer model merge runs/shop/checkpoints/000040/weights --into ./shop-model
  $ agent-trainer model export runs/shop --format gguf --dtype q8_0 --into shop.gguf
  $ agent-trainer model export runs/shop --format gguf --part adapter --into adapter.gguf
`;

const parts: readonly ExportPart[] = ["merged", "base", "adapter"];

/** The default of `--dtype` for a folder. */
const ownFormat = "the model's own, or f16 if that is mixed or quantized";

const dtype = (choices: readonly string[], byDefault: string): Option =>
  new Option(
    "--dtype <type>",
    `number format of the written weights (default: ${byDefault})`,
  ).choices(choices);

export function addModelCommands(
  program: Command,
  io: CliIo,
  onExit: (code: number) => void,
  command: MakeCommand,
): void {
  const group = program
    .command("model")
    .description("inspect, download, merge and export models")
    .addHelpText("after", groupHelp);
  command(
    group,
    "inspect",
    "show a model's architecture and size, whether it can be trained, and the memory that takes",
  )
    .argument("<model>")
    .option("--base <model>", "base model of an adapter (default: the one the adapter names)")
    .action(async (model: string, flags: ModelFlags) => {
      const { inspectCommand } = await import("./model.ts");
      onExit(await inspectCommand(model, flags, io));
    });
  command(
    group,
    "pull",
    "download a model from the hub into its cache; resumes an interrupted download",
  )
    .argument("<id>", "OWNER/NAME[@REVISION][:FILE.gguf]")
    .addHelpText(
      "after",
      "\nHF_HOME, HF_HUB_CACHE, HF_TOKEN, HF_ENDPOINT and HF_HUB_OFFLINE work as in Hugging Face's tools.\n",
    )
    .action(async (id: string, flags: ModelFlags) => {
      const { pullCommand } = await import("./model.ts");
      onExit(await pullCommand(id, flags, io));
    });
  command(
    group,
    "merge",
    "merge a LoRA adapter into its base model, and write the result to a folder",
  )
    .argument("<adapter>")
    .requiredOption("--into <folder>", "folder to write the merged model to; must not exist")
    .option("--base <model>", "base model of the adapter (default: the one the adapter names)")
    .addOption(dtype(numberFormats, ownFormat))
    .action(async (adapter: string, flags: MergeFlags) => {
      const { mergeCommand } = await import("./model-export.ts");
      onExit(await mergeCommand(adapter, flags, io));
    });
  command(group, "export", "write a model for vLLM (hf), or for llama.cpp and Ollama (gguf)")
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
    .addOption(
      new Option(
        "--part <part>",
        "of a model with a LoRA adapter: merged, both in one; base, without the adapter, rounded as in training; adapter, alone, for llama.cpp's --lora",
      )
        .choices(parts)
        .default("merged"),
    )
    .addOption(dtype(ggufFormats, `f16 for gguf, f32 for an adapter; for hf ${ownFormat}`))
    .action(async (model: string, flags: ExportFlags) => {
      const { exportCommand } = await import("./model-export.ts");
      onExit(await exportCommand(model, flags, io));
    });
}
