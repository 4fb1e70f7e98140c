/** Commands whose runs a sweep can make. Imports nothing, since the help of `sweep` needs it. */
export const sweptMethods = ["train", "sft", "dpo", "kto"] as const;
export type SweptMethod = (typeof sweptMethods)[number];
