/** The head of every page: where one is, the pages of a run, light or dark, and the keys. */
import type { RunEntry } from "../api/runs.ts";
import type { Route } from "./parse-route.ts";
import { linkTo } from "./route.ts";
import { useRunName } from "./run-name.tsx";
import { chooseTheme, chosenTheme, type Theme, useTheme } from "./theme.ts";
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

/** The keys, on `?`. */
function HelpDialog() {
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

const nextTheme: Readonly<Record<Theme, Theme>> = { "": "light", light: "dark", dark: "" };
const themeSigns: Readonly<Record<Theme, string>> = { "": "◐", light: "☀", dark: "☾" };
const themeNames: Readonly<Record<Theme, string>> = {
  "": "as the system",
  light: "light",
  dark: "dark",
};

function ThemeButton() {
  useTheme();
  const chosen = chosenTheme();
  return (
    <button
      type="button"
      class="plain"
      aria-label={`Theme: ${themeNames[chosen]}`}
      title={`Theme: ${themeNames[chosen]}`}
      onClick={() => chooseTheme(nextTheme[chosen])}
    >
      {themeSigns[chosen]}
    </button>
  );
}

const tabs: readonly (readonly [string, string, readonly string[]])[] = [
  ["run", "Overview", ["run"]],
  ["tasks", "Tasks", ["tasks"]],
  ["episodes", "Episodes", ["episodes", "episode", "group"]],
];

function Tabs({ route, run }: { route: Route; run: RunEntry }) {
  const { name } = useRunName(run);
  return (
    <>
      <span aria-hidden="true" class="dim">
        /
      </span>
      <a class="run-name" href={linkTo("run", run.key)}>
        {name}
      </a>
      <span class="tabs">
        {tabs.map(([page, title, pages]) => (
          <a
            key={page}
            href={linkTo(page, run.key, "", page === "episodes" ? route.filter : {})}
            aria-current={pages.includes(route.page) ? "page" : undefined}
          >
            {title}
          </a>
        ))}
      </span>
    </>
  );
}

interface HeaderProps {
  readonly route: Route;
  readonly run: RunEntry | undefined;
  readonly isConnected: boolean;
}

export function Header({ route, run, isConnected }: HeaderProps) {
  return (
    <header class="top">
      <nav aria-label="Where you are">
        <a class="brand" href="#/runs">
          Runs
        </a>
        {run !== undefined && !["runs", "rounds"].includes(route.page) && (
          <Tabs route={route} run={run} />
        )}
      </nav>
      <span class="row end">
        {!isConnected && (
          <span class="pill warn" role="status">
            not connected: is agent-trainer view still running?
          </span>
        )}
        {isConnected && run?.status === "running" && (
          <span class="pill running">
            <span aria-hidden="true">●</span> live
          </span>
        )}
        <ThemeButton />
        <HelpDialog />
      </span>
    </header>
  );
}
