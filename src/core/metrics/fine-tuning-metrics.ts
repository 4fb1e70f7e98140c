/** Metrics of learning from examples: `agent-trainer sft` and `agent-trainer dpo`. Data only. */

export const fineTuningMetrics = [
  {
    title: "Fine-tuning",
    about:
      "Of `agent-trainer sft` and `agent-trainer dpo`, which also report `train/loss`, `train/grad_norm`, `train/tokens`, `train/updates` and what was skipped, `progress/...`, `spent/...`, `tokens/per_s` and `time/step_s`. Those of validations are in lines with the phase `validation`.",
    entries: [
      {
        names: ["val/loss"],
        unit: "nats",
        meaning:
          "Loss on the held-out examples: the mean of −logprob per trained token; with DPO, the mean per pair.",
        when: "there are held-out examples",
      },
      {
        names: ["val/tokens"],
        unit: "tokens",
        meaning: "Trained tokens of the held-out examples.",
        when: "`fine_tuning.loss=sft`",
      },
      {
        names: ["train/rewards/accuracies", "val/rewards/accuracies"],
        unit: "fraction",
        meaning: "Pairs whose chosen response has the higher implicit reward.",
        when: "`fine_tuning.loss=dpo`",
      },
      {
        names: [
          "train/rewards/chosen",
          "train/rewards/rejected",
          "train/rewards/margins",
          "val/rewards/chosen",
          "val/rewards/rejected",
          "val/rewards/margins",
        ],
        unit: "reward",
        meaning:
          "Mean implicit reward of DPO, β (log p − log p of the reference), of chosen and of rejected responses, and their difference.",
        when: "`fine_tuning.loss=dpo`",
      },
    ],
  },
] as const;
