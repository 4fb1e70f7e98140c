/** The border of the page: no text and no label of an element hides or reorders characters, wherever it is from. */
import { options, type VNode } from "preact";
import { visibleText } from "../episode/visible-text.ts";

const labels = ["title", "aria-label", "aria-valuetext", "placeholder"] as const;

/** Text has no type, and is its own properties. */
function makeVisible(node: VNode): void {
  const { type, props } = node as unknown as { type: unknown; props: unknown };
  if (typeof props === "string") node.props = visibleText(props) as unknown as typeof node.props;
  if (typeof type !== "string") return;
  const own = props as Record<string, unknown>;
  for (const label of labels) {
    const value = own[label];
    if (typeof value === "string") own[label] = visibleText(value);
  }
}

/** Call it once, before anything is rendered. */
export function showHiddenCharacters(): void {
  options.vnode = makeVisible;
}
