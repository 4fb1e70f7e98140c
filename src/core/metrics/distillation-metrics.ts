/** Metrics of on-policy distillation. Data only. */

export const distillationMetrics = [
  {
    title: "Distillation",
    entries: [
      {
        names: ["distillation/reverse_kl"],
        unit: "nats",
        meaning:
          "Estimated KL(policy, teacher) per sampled token: the mean of log p(policy) − log p(teacher). It falls towards 0.",
        when: "`distillation.teacher` names a teacher",
      },
      {
        names: ["distillation/unhinted_rows"],
        unit: "count",
        meaning:
          "Rows without a hint, because there was none, because it did not fit the context, or because the renderer writes their prompt in another way than it was sent. They teach nothing.",
        when: "`distillation.teacher=self`",
      },
      {
        names: ["distillation/clip_fraction"],
        unit: "fraction",
        meaning: "Tokens whose advantage from the teacher was limited.",
        when: "`distillation.clip` is not null",
      },
    ],
  },
] as const;
