/** Text of a message. What a model wrote is only ever text here. */
import { useState } from "preact/hooks";

/** Characters that are shown at once; the rest on demand. */
const atOnce = 20_000;

export function LongText({ text, kind }: { text: string; kind: string }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > atOnce;
  return (
    <>
      <pre class={kind} dir="auto">
        {isLong && !isWhole ? text.slice(0, atOnce) : text}
      </pre>
      {isLong && !isWhole && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString("en")} characters
        </button>
      )}
    </>
  );
}

/** JSON with line breaks, where it is JSON of a size that is worth it. */
export function readableJson(text: string): string {
  if (text.length > 50_000) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
