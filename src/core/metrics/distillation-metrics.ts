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
        names: ["distillation/clip_fraction"],
        unit: "fraction",
        meaning: "Tokens whose advantage from the teacher was limited.",
        when: "`distillation.clip` is not null",
      },
    ],
  },
] as const;
