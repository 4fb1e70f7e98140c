/** What the agent works with: the shop's prices, and two tools as plain functions. */

/** The model cannot know them; it has to look. */
const prices = new Map(
  Object.entries({
    lamp: 45,
    chair: 79,
    mug: 12,
    plate: 18,
    clock: 65,
    shirt: 24,
    pen: 11,
    book: 31,
    bag: 52,
    bowl: 17,
    desk: 98,
    hat: 29,
    broom: 19,
    blanket: 42,
    cushion: 16,
    kettle: 38,
    lantern: 27,
    notebook: 6,
    scarf: 23,
    stool: 37,
    coat: 90,
    fork: 13,
    kite: 35,
    rope: 21,
    ring: 88,
    spoon: 14,
    drum: 55,
    jacket: 74,
    plant: 9,
    radio: 48,
    tent: 83,
    wallet: 32,
    towel: 22,
    candle: 15,
    basket: 28,
    pillow: 33,
    ladder: 60,
    mirror: 70,
    vase: 26,
    hammer: 34,
  }),
);

export function getPrice(item: unknown): string {
  const price = prices.get(String(item));
  return price === undefined ? "error: no such item" : String(price);
}

export function multiply(a: unknown, b: unknown): string {
  return String(Number(a) * Number(b));
}
