/** Flags and help of `agent-trainer doctor`; the commands are loaded on demand. */
import type { Command } from "commander";
import { wholeNumber } from "../terminal/flag-values.ts";
import type { CliIo } from "../terminal/io.ts";
import type { DoctorFlags } from "./doctor.ts";
import type { DoctorServiceFlags } from "./doctor-service.ts";
import type { MakeCommand } from "./model-commands.ts";

const help = `
Examples:
  $ agent-trainer doctor
  $ agent-trainer doctor --json
  $ agent-trainer doctor service http://127.0.0.1:8100
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
    "check this machine: hardware, execution providers, hub cache, and how to fix problems",
  )
    .addHelpText("after", help)
    .action(async (flags: DoctorFlags) => {
      const { doctorCommand } = await import("./doctor.ts");
      onExit(await doctorCommand(flags, io));
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
