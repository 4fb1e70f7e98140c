/** What all of these agents work with: a question about a shop, and two tools as plain functions. */
export const systemPrompt = "You are a shop assistant.";

export const getPrice = ({ item, price }, wanted) =>
  wanted === item ? String(price) : "error: no such item";

export const multiply = (a, b) => String(Number(a) * Number(b));

/** What the user says, one after the other. */
export const questionsOf = ({ instruction, metadata }) => [
  instruction,
  ...(metadata.followUps ?? []),
];

/** The tools' parameters as JSON Schema. */
export const parameters = {
  get_price: { type: "object", properties: { item: { type: "string" } } },
  multiply: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
};

/** Runs a tool by name; a model may send anything. */
export function runTool(name, input, question) {
  return name === "multiply" ? multiply(input?.a, input?.b) : getPrice(question, input?.item);
}
