/** `agent-trainer dpo`: a model learns pairs of a chosen and a rejected response. */
import type { CliCommand } from "../define-command.ts";
import { fineTuneCommand } from "./fine-tune.ts";

const help = `
Examples:
  $ agent-trainer dpo shop.yaml --train pairs.jsonl
  $ agent-trainer dpo shop.yaml --from-run runs/shop fine_tuning.loss.beta=0.2
  $ agent-trainer dpo shop.yaml --train pairs.jsonl --preview 1

Each row is a pair: {"prompt": [...], "chosen": [...], "rejected": [...]}, or OpenAI's
{"input": {"messages": [...]}, "preferred_output": [...], "non_preferred_output": [...]}.
`;

export const command: CliCommand = fineTuneCommand("dpo", help);
