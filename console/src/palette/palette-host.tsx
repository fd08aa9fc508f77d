// Opens the command palette with Ctrl or ⌘ and K, or from the navigation. It is loaded when it is first opened.
import { lazy, Suspense, useEffect, useState } from "react";
import { PALETTE_EVENT } from "../parts/palette-signal.ts";

const CommandPalette = lazy(async () => ({ default: (await import("./command-palette.tsx")).CommandPalette }));

export function PaletteHost() {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    const open = () => setIsOpen(true);
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      open();
    };
    addEventListener(PALETTE_EVENT, open, { signal: stop.signal });
    document.addEventListener("keydown", press, { signal: stop.signal });
    return () => stop.abort();
  }, []);
  return isOpen ? (
    <Suspense fallback={null}>
      <CommandPalette onClose={() => setIsOpen(false)} />
    </Suspense>
  ) : null;
}
