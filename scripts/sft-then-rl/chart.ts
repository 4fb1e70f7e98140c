/** The curves of both arms as a picture. */

/** A validation: what was spent before it, and what came out. */
export interface Point {
  readonly seed: number;
  /** Optimizer steps, of both kinds. */
  readonly steps: number;
  /** Tokens that were sampled, and tokens that were trained on. */
  readonly tokens: number;
  /** Of training; validations are not counted. */
  readonly seconds: number;
  /** The same, of processor time: that of all threads. */
  readonly processorSeconds: number;
  readonly reward: number;
  readonly right: number;
}

/** By the name of the arm. */
export type Arms = Readonly<Record<string, readonly Point[]>>;

const [width, height, left, right, top, bottom] = [720, 340, 44, 230, 20, 40];
const colors = ["#2e9e5b", "#9aa7b8"];

function text(x: number, y: number, content: string, anchor: string, color = "#808080"): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="${color}">${content}</text>`;
}

const axes = {
  tokens: { words: "tokens sampled and trained on", of: (point: Point) => point.tokens },
  processorMinutes: {
    words: "minutes of processor time",
    of: (point: Point) => point.processorSeconds / 60,
  },
};

/** An SVG of the fraction of tasks solved against what was spent, a line per seed. */
export function chart(arms: Arms, axis: keyof typeof axes): string {
  const { words, of } = axes[axis];
  const most = Math.max(...Object.values(arms).flatMap((points) => points.map(of)));
  const x = (spent: number): number => left + (spent / most) * (width - left - right);
  const y = (value: number): number => height - bottom - value * (height - top - bottom);
  const lines = Object.entries(arms).flatMap(([name, points], i) => {
    const color = colors[i]!;
    return [
      ...[...new Set(points.map(({ seed }) => seed))].map((seed) => {
        const path = points
          .filter((point) => point.seed === seed)
          .map((p) => `${x(of(p)).toFixed(1)},${y(p.right).toFixed(1)}`);
        return `<polyline points="${path.join(" ")}" fill="none" stroke="${color}" stroke-width="2"/>`;
      }),
      ...points.map(
        (p) =>
          `<circle cx="${x(of(p)).toFixed(1)}" cy="${y(p.right).toFixed(1)}" r="4" fill="${color}"/>`,
      ),
      text(width - right + 12, top + 14 + 22 * i, name, "start", color),
    ];
  });
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13" role="img">`,
    `<title>Fraction of validation tasks solved against ${words}</title>`,
    ...[0, 0.25, 0.5, 0.75, 1].flatMap((value) => [
      `<line x1="${left}" x2="${width - right}" y1="${y(value)}" y2="${y(value)}" stroke="#808080" stroke-opacity="0.3"/>`,
      text(left - 8, y(value) + 4, String(value), "end"),
    ]),
    ...[0, 0.5, 1].map((share) =>
      text(
        x(share * most),
        height - bottom + 20,
        (share * most).toLocaleString("en", { maximumFractionDigits: most < 100 ? 1 : 0 }),
        "middle",
      ),
    ),
    text(left + (width - left - right) / 2, height - 4, words, "middle"),
    ...lines,
    "</svg>",
  ].join("\n")}\n`;
}
