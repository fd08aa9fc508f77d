// Keys of a page. They do nothing while a text is being entered, a modifier is held or a dialog is open.
import { useEffect, useRef } from "react";

/** By the name of the key, in lower case. A function that returns false leaves the key to the browser. */
export type Shortcuts = Record<string, (event: KeyboardEvent) => unknown>;

const TAKES_TEXT = "input, textarea, select, [contenteditable], [role=dialog], [role=menu], [role=listbox]";

export function useShortcuts(shortcuts: Shortcuts): void {
  const current = useRef(shortcuts);
  current.current = shortcuts;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (event.target instanceof Element && event.target.closest(TAKES_TEXT)) return;
      const action = current.current[event.key.toLowerCase()];
      if (action && action(event) !== false) event.preventDefault();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}
