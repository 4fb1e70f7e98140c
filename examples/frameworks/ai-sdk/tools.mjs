/** The shop's tools for the Vercel AI SDK, and when its loop ends. */
import * as ai from "ai";
import { getPrice, multiply, parameters } from "../shop.mjs";

const { jsonSchema, tool } = ai;

// AI SDK 7 has renamed it.
// oxlint-disable-next-line import/namespace
export const stopAfter = ai.isStepCount ?? ai.stepCountIs;

/** What the next question continues. AI SDK 7 has it for all steps under another name. */
export const saidIn = async (result) =>
  (await result.responseMessages) ?? (await result.response).messages;

export const shopTools = (question) => ({
  get_price: tool({
    inputSchema: jsonSchema(parameters.get_price),
    execute: ({ item }) => getPrice(question, item),
  }),
  multiply: tool({
    inputSchema: jsonSchema(parameters.multiply),
    execute: ({ a, b }) => multiply(a, b),
  }),
});
