/** A customer of eight turns: one of the first is an order with a number, the last one asks for it. */
import type { Task } from "agent-trainer";
import { items } from "../shop/tasks.ts";

export interface Visit {
  /** What the customer says in all turns but the last. */
  readonly said: readonly string[];
  /** How many pens were ordered. */
  readonly count: number;
}

export const turns = 8;
export const systemPrompt = "You are a shop assistant.";
export const notesPrompt = "Notes?";
export const question = "How many pens?";

/** How a conversation begins that continues an earlier one. */
export const withNotes = (notes: string, next: string): string => `Notes: ${notes}. ${next}`;

/** Numbers from 0 to 1, the same for the same seed. */
export function numbers(seed: number): () => number {
  let state = (seed * 7919 + 12345) % 233280;
  const next = (): number => (state = (state * 9301 + 49297) % 233280) / 233280;
  for (let i = 0; i < 8; i++) next();
  return next;
}

/** The pens are among the first three turns, which no longer fit when they are asked for. */
export function makeTask(name: string, seed: number): Task<Visit> {
  const next = numbers(seed);
  const count = 2 + Math.floor(next() * 8);
  const chat = (): string => `${items[Math.floor(next() * items.length)]}s please, wrap them.`;
  const said = Array.from({ length: turns - 2 }, chat);
  said.splice(Math.floor(next() * 3), 0, `${count} pens please, wrap them.`);
  return { id: `${name}-${seed}`, instruction: question, metadata: { said, count } };
}
