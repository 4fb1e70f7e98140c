/** The keys, on `?`. */
import { useRef } from "preact/hooks";
import { useKeys } from "./keys.ts";

const keys: readonly (readonly [string, string])[] = [
  ["j / k", "next, previous run or episode"],
  ["Enter", "open the selected run or episode, or the rollouts of a task"],
  ["← / →", "in the map of tasks: the step"],
  ["x", "in the list of runs: overlay the curve"],
  ["Esc", "back to the list; leave a field"],
  ["/", "search"],
  ["c", "copy the episode as Markdown"],
  ["g", "the other rollouts of the task"],
  ["t", "tokens of the first call"],
  ["h", "HTTP request and response of the first call"],
  ["r", "replay the episode, message by message: → and ←"],
  ["d", "in a group: the two rollouts chosen, side by side"],
  ["?", "this list"],
];

export function HelpDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = (): void => dialog.current?.showModal();
  useKeys({ "?": open });
  return (
    <>
      <button type="button" class="plain" onClick={open} aria-label="Keyboard shortcuts">
        ?
      </button>
      <dialog ref={dialog} aria-label="Keyboard shortcuts">
        <table>
          <tbody>
            {keys.map(([key, meaning]) => (
              <tr key={key}>
                <th scope="row">
                  <kbd>{key}</kbd>
                </th>
                <td>{meaning}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}
