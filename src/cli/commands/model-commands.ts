/** Flags and help of `agent-trainer model`; what the commands do is in `model.ts`, loaded when asked for. */
import { type Command, Option } from "commander";
import { numberFormats } from "../../engine/checkpoint/number-format.ts";
import type { CliIo } from "../terminal/io.ts";
import type { ExportFlags, ModelFlags } from "./model.ts";

/** Makes a command with the flags that all have. */
export type MakeCommand = (parent: Command, name: string, description: string) => Command;

const groupHelp = `
A MODEL is a folder in Hugging Face layout, a .gguf file, OWNER/NAME on a hub, builtin:shop-tiny, the
folder of a run, a checkpoint in it, or a LoRA adapter.

Examples:
  $ agent-trainer model pull HuggingFaceTB/SmolLM2-135M-Instruct
  $ agent-trainer model inspect ./SmolLM2-135M-Instruct.Q4_1.gguf
  $ agent-trainer model merge runs/shop/checkpoints/000040/weights --into ./shop-model
  $ agent-trainer model export runs/shop --format gguf --into shop.gguf
`;

const dtype = (): Option =>
  new Option("--dtype <type>", "floats to write")
    .choices([...numberFormats])
    .default(undefined, "f16 for gguf; else the model's own, or f16 where that is quantised");

export function addModelCommands(
  program: Command,
  io: CliIo,
  onExit: (code: number) => void,
  command: MakeCommand,
): void {
  const group = program
    .command("model")
    .description("look at, fetch, merge and export models")
    .addHelpText("after", groupHelp);
  command(group, "inspect", "what a model is, whether it can be trained, and what that takes")
    .argument("<model>")
    .option("--base <model>", "base of an adapter, where it is not the one it names")
    .action(async (model: string, flags: ModelFlags) => {
      const { inspectCommand } = await import("./model.ts");
      onExit(await inspectCommand(model, flags, io));
    });
  command(group, "pull", "fetch a model from the hub into its cache; goes on where it was cut off")
    .argument("<id>", "OWNER/NAME[@REVISION][:FILE.gguf]")
    .addHelpText(
      "after",
      "\nHF_HOME, HF_HUB_CACHE, HF_TOKEN, HF_ENDPOINT and HF_HUB_OFFLINE mean what they mean to Hugging Face's tools.\n",
    )
    .action(async (id: string, flags: ModelFlags) => {
      const { pullCommand } = await import("./model.ts");
      onExit(await pullCommand(id, flags, io));
    });
  command(group, "merge", "add a LoRA adapter to its base, as a whole model in a folder")
    .argument("<adapter>")
    .requiredOption("--into <folder>", "where the model goes")
    .option("--base <model>", "base of the adapter, where it is not the one it names")
    .addOption(dtype())
    .action(async (adapter: string, flags: ExportFlags & { readonly into: string }) => {
      const { mergeCommand } = await import("./model.ts");
      onExit(await mergeCommand(adapter, flags, io));
    });
  command(group, "export", "write a model for vLLM (hf), or for llama.cpp and Ollama (gguf)")
    .argument("<model>")
    .addOption(
      new Option("--format <format>", "what to write")
        .choices(["hf", "gguf"])
        .makeOptionMandatory(),
    )
    .option("--into <path>", "where it goes; by default a name of its own in this folder")
    .option("--base <model>", "base of an adapter, where it is not the one it names")
    .addOption(dtype())
    .action(async (model: string, flags: ExportFlags) => {
      const { exportCommand } = await import("./model.ts");
      onExit(await exportCommand(model, flags, io));
    });
}
