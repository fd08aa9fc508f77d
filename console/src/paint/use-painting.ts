// The chosen tool and brush. The brush is kept in the browser.
import { useMemo, useRef, useState } from "react";
import { type BrushSettings, readBrushSettings, saveBrushSettings } from "./brush-settings.ts";
import type { ToolName } from "./tools.ts";

export type Painting = {
  tool: ToolName;
  settings: BrushSettings;
  isMaskHidden: boolean;
  chooseTool(tool: ToolName): void;
  changeSettings(changes: Partial<BrushSettings>): void;
  toggleMask(): void;
  /** A key that moves the view while it is held. */
  holdMove(isHeld: boolean): void;
  isMoving(): boolean;
};

export function usePainting(): Painting {
  const [tool, setTool] = useState<ToolName>("brush");
  const [settings, setSettings] = useState(() => readBrushSettings(localStorage));
  const [isMaskHidden, setIsMaskHidden] = useState(false);
  const isMoveHeld = useRef(false);
  return useMemo(
    () => ({
      tool,
      settings,
      isMaskHidden,
      chooseTool: setTool,
      changeSettings(changes) {
        const next = { ...settings, ...changes };
        saveBrushSettings(localStorage, next);
        setSettings(next);
      },
      toggleMask: () => setIsMaskHidden((isHidden) => !isHidden),
      holdMove(isHeld) {
        isMoveHeld.current = isHeld;
      },
      isMoving: () => tool === "move" || isMoveHeld.current,
    }),
    [tool, settings, isMaskHidden],
  );
}
