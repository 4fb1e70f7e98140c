/** A row of a list that is moved by keyboard: `j` and `k` select, Enter opens. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useKeys } from "./keys.ts";

/**
 * Index of the selected row.
 *
 * @param list names the list: another one is begun at its first row
 */
export function useSelection<T>(
  list: string,
  rows: readonly T[],
  onOpen: (row: T) => void,
): number {
  const [selected, setSelected] = useState(0);
  useEffect(() => setSelected(0), [list]);
  // A list may have become shorter.
  const at = Math.min(selected, Math.max(0, rows.length - 1));
  const move = (by: number): void => {
    // Enter would open the link that was clicked last instead of the selected row.
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    const last = Math.max(0, rows.length - 1);
    setSelected((now) => Math.max(0, Math.min(last, Math.min(last, now) + by)));
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      const row = rows[at];
      if (row !== undefined) onOpen(row);
    },
  });
  return at;
}

export function SelectableRow({
  isSelected,
  children,
}: {
  isSelected: boolean;
  children: ComponentChildren;
}) {
  const element = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (isSelected) element.current?.scrollIntoView({ block: "nearest" });
  }, [isSelected]);
  return (
    <tr ref={element} class={isSelected ? "selected" : ""} aria-selected={isSelected}>
      {children}
    </tr>
  );
}
