/** Metrics of learning from examples: `agent-trainer sft`, `dpo` and `kto`. Data only. */

export const fineTuningMetrics = [
  {
    title: "Fine-tuning",
    about:
      "Of `agent-trainer sft`, `dpo` and `kto`, which also report `train/loss`, `train/grad_norm`, `train/tokens`, `train/updates` and what was skipped, `progress/...`, `spent/...`, `tokens/per_s` and `time/step_s`. Those of validations are in lines with the phase `validation`.",
    entries: [
      {
        names: ["val/loss"],
        unit: "nats",
        meaning:
          "Loss on the held-out examples: the mean of −logprob per trained token; with DPO, the mean per pair; with KTO, the mean per example.",
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
        names: ["train/kl", "val/kl"],
        unit: "nats",
        meaning:
          "KTO's estimate of the KL divergence from the reference: the mean of log p − log p of the reference over completions after the prompts of other examples, at least 0.",
        when: "`fine_tuning.loss=kto`",
      },
      {
        names: [
          "train/examples/chosen",
          "train/examples/rejected",
          "val/examples/chosen",
          "val/examples/rejected",
        ],
        unit: "count",
        meaning: "Desirable and undesirable examples.",
        when: "`fine_tuning.loss=kto`",
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
          "Mean implicit reward of DPO and KTO, β (log p − log p of the reference), of chosen (KTO: desirable) and of rejected (KTO: undesirable) responses, and their difference; with KTO where there are such examples.",
        when: "`fine_tuning.loss=dpo` or `kto`",
      },
    ],
  },
] as const;
