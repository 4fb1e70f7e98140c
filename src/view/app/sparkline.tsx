/** A curve the size of a word. */
import type { Values } from "../curves.ts";

const [width, height] = [72, 16];

/** More points than pixels say nothing more. */
function thinned(values: Values): readonly number[] {
  const known = values.filter((value) => value !== null);
  const every = Math.max(1, Math.ceil(known.length / width));
  return known.filter((_, i) => i % every === 0 || i === known.length - 1);
}

export function Sparkline({ values }: { values: Values }) {
  const known = thinned(values);
  if (known.length < 2) return <svg class="sparkline" aria-hidden="true" />;
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const points = known.map((value, i) => {
    const x = 1 + (i / (known.length - 1)) * (width - 2);
    const y =
      high === low ? height / 2 : height - 2 - ((value - low) / (high - low)) * (height - 4);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <polyline points={points.join(" ")} />
    </svg>
  );
}
