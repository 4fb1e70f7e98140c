/**
 * Conversations of the shop: some ask for the number at once, some end with notes, and some begin with them. They
 * show how a number is found and what notes look like. What is worth a note they seldom show: one in six has the
 * number, the others have something that no question asks for.
 */
import { items } from "../shop/tasks.ts";
import { makeTask, notesPrompt, numbers, question, systemPrompt, withNotes } from "./orders.ts";

type Turn = readonly [said: string, response: string];

const conversation = (turns: readonly Turn[]): object => ({
  messages: [
    { role: "system", content: systemPrompt },
    ...turns.flatMap(([said, response]) => [
      { role: "user", content: said },
      { role: "assistant", content: response },
    ]),
  ],
});

const listened = (said: readonly string[]): Turn[] => said.map((text) => [text, "ok"]);

function demonstrate(seed: number): object {
  const { said, count } = makeTask("demonstration", seed).metadata;
  const next = numbers(seed + 1_000_000);
  const kept = 3 + Math.floor(next() * 4);
  const useful = `${count} pens`;
  const useless = `${items[Math.floor(next() * items.length)]}s`;
  const heard = listened(said.slice(0, kept));
  const kind = seed % 3;
  if (kind === 0) return conversation([...heard, [question, String(count)]]);
  if (kind === 1) return conversation([...heard, [notesPrompt, next() < 1 / 6 ? useful : useless]]);
  const isUseful = next() < 1 / 2;
  const [first, ...rest] = [...said.slice(kept), question];
  const note = withNotes(isUseful ? useful : useless, first);
  const answer = isUseful ? String(count) : "none";
  return conversation([
    ...listened([note, ...rest].slice(0, -1)),
    [[note, ...rest].at(-1)!, answer],
  ]);
}

export const demonstrations = (amount: number): object[] =>
  Array.from({ length: amount }, (_, seed) => demonstrate(seed));
