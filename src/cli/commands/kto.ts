/** `agent-trainer kto`: a model learns responses that are each labelled good or bad. */
import type { CliCommand } from "../define-command.ts";
import { fineTuneCommand } from "./fine-tune.ts";

const help = `
Examples:
  $ agent-trainer kto shop.yaml --train thumbs.jsonl
  $ agent-trainer kto shop.yaml --train thumbs.jsonl fine_tuning.loss.undesirable_weight=2
  $ agent-trainer kto shop.yaml --from-run runs/shop --min-reward 1
  $ agent-trainer kto shop.yaml --train thumbs.jsonl --preview 1

Each row is a response and its label: {"prompt": [...], "completion": [...], "label": true}, or
{"messages": [...], "label": "up"}; false, 0 and "down" are labels of bad ones.
`;

export const command: CliCommand = fineTuneCommand("kto", help);
