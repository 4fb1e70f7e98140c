/**
 * `agent-trainer/finetune`: learning from examples, before or after reinforcement learning.
 *
 * @module finetune
 */
export { fineTune, type FineTuneOptions, type FineTuneResult } from "./fine-tune.ts";
export type { ExampleSource } from "./examples/load-examples.ts";
export {
  previewFineTune,
  type FineTunePreview,
  type PreviewPart,
  type PreviewRow,
} from "./preview.ts";
