/** `agent-trainer sft`: a model learns conversations, or good episodes of a run. */
import type { CliCommand } from "../define-command.ts";
import { fineTuneCommand } from "./fine-tune.ts";

const help = `
Examples:
  $ agent-trainer sft shop.yaml --train conversations.jsonl
  $ agent-trainer sft shop.yaml --train conversations.jsonl --preview
  $ agent-trainer sft shop.yaml --from-run runs/shop --min-reward 1 trainer.total_epochs=2
  $ agent-trainer sft shop.yaml --train a.jsonl --val b.jsonl trainer.test_freq=10 fine_tuning.patience=3
  $ agent-trainer sft shop.yaml --train conversations.jsonl --resume runs/shop-sft
  $ agent-trainer train shop.yaml model.name=runs/shop-sft

Each row is a conversation with tools as in OpenAI's API: {"messages": [...], "tools": [...]}.
Options are those of model, fine_tuning, training, trainer, data.train_batch_size and the backend.
`;

export const command: CliCommand = fineTuneCommand("sft", help);
