/** Flags and help of `agent-trainer doctor`; the commands are loaded on demand. */
import type { Command } from "commander";
import { wholeNumber } from "../terminal/flag-values.ts";
import type { CliIo } from "../terminal/io.ts";
import type { DoctorFlags } from "./doctor.ts";
import type { DoctorRewardFlags } from "./doctor-reward.ts";
import type { DoctorServiceFlags } from "./doctor-service.ts";
import type { MakeCommand } from "./model-commands.ts";

const help = `
Examples:
  $ agent-trainer doctor
  $ agent-trainer doctor --json
  $ agent-trainer doctor service http://127.0.0.1:8100
  $ agent-trainer doctor reward shop.yaml
`;

const rewardHelp = `
Scores outputs that should get nothing (empty, the prompt itself, refusals, format without content, long
text, wrong and copied answers, instructions to a judge) and the reference answer in several forms, each
twice and in another order; then longer and longer text. Each fault is shown with the output that it was
found with. No model is called, unless --rollouts asks for a sample of real rollouts.

The exit status is 1 where a problem was found, and 0 where there are only warnings.

Examples:
  $ agent-trainer doctor reward shop.yaml
  $ agent-trainer doctor reward shop.yaml --from runs/shop
  $ agent-trainer doctor reward shop.yaml --rollouts 4 rollout.n=8
  $ agent-trainer doctor reward shop.yaml --evaluator new-evaluator.ts --tasks 20 --json
`;

const serviceHelp = `
Each line is the result of a probe: yes is what the Tinker service documents, differs is done in another
way, no is refused or ignored. The probes create a LoRA adapter, train it for a few steps on nine tokens,
sample a few dozen tokens, and unload it; one checkpoint is left that expires after an hour.

The key is read from TINKER_API_KEY where --key is not given. The exit status is 1 where backend=tinker
cannot train on the server.

Examples:
  $ agent-trainer doctor service http://127.0.0.1:8100 --key tml-local
  $ agent-trainer doctor service http://127.0.0.1:8000 --model Qwen/Qwen3-0.6B --json
`;

export function addDoctorCommands(
  program: Command,
  io: CliIo,
  onExit: (code: number) => void,
  command: MakeCommand,
): void {
  const doctor = command(
    program,
    "doctor",
    "check this machine: hardware, kernels of the engine, hub cache, and how to fix problems",
  )
    .addHelpText("after", help)
    .action(async (flags: DoctorFlags) => {
      const { doctorCommand } = await import("./doctor.ts");
      onExit(await doctorCommand(flags, io));
    });
  command(doctor, "reward", "probe the evaluator of a configuration, and show what it pays for")
    .argument("<config.yaml>", "configuration with an evaluator and a dataset")
    .argument("[overrides...]", "options as key=value")
    .option("--evaluator <path#export>", "another evaluator than that of the configuration")
    .option(
      "--reference <field>",
      "field of a task's row with the reference answer (default: answer, solution ...)",
    )
    .option("--tasks <n>", "tasks that are probed", wholeNumber(1), 8)
    .option(
      "--rollouts <n>",
      "run the agent on this many tasks first, rollout.n times each",
      wholeNumber(1),
    )
    .option("--from <run>", "look at the recorded rollouts of this run or evaluation, too")
    .addHelpText("after", rewardHelp)
    .action(async (file: string, overrides: string[], _: object, own: Command) => {
      const { doctorRewardCommand } = await import("./doctor-reward.ts");
      const flags = own.optsWithGlobals<DoctorRewardFlags>();
      onExit(await doctorRewardCommand([file, ...overrides], flags, io));
    });
  command(doctor, "service", "check a Tinker server: what it can do, averages, clips and ignores")
    .argument("<url>", "base URL of the server, such as http://127.0.0.1:8100")
    .option("--key <key>", "API key (default: TINKER_API_KEY)")
    .option("--model <name>", "base model to probe (default: the first that the server names)")
    .option("--rank <n>", "rank of the adapter that is trained", wholeNumber(1), 8)
    .addHelpText("after", serviceHelp)
    .action(async (url: string, _: object, own: Command) => {
      const { doctorServiceCommand } = await import("./doctor-service.ts");
      // The flags that both have are read by the outer command.
      onExit(await doctorServiceCommand(url, own.optsWithGlobals<DoctorServiceFlags>(), io));
    });
}
