// The keys of the Paint page. They do nothing while the user types, and a key that is held moves the view until it is
// released.
import { useEffect, useRef } from "react";
import { stepBrushSize } from "./brush-settings.ts";
import { invertWholeMask } from "./mask-actions.ts";
import type { MaskDocument } from "./mask-document.ts";
import { focusFindInput } from "./tool-rail.tsx";
import type { ToolName } from "./tools.ts";
import type { Painting } from "./use-painting.ts";
import type { StageView } from "./use-stage-view.ts";
import { nextZoom } from "./view.ts";

const TOOL_KEYS: Record<string, ToolName> = {
  b: "brush",
  e: "eraser",
  l: "lasso",
  u: "rectangle",
  g: "fill",
  h: "move",
};

type KeyTargets = { document: MaskDocument; painting: Painting; stage: StageView };

export function usePaintKeys(targets: KeyTargets): void {
  const latest = useRef(targets);
  latest.current = targets;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTyping(event.target) || event.altKey) return;
      const action = findAction(latest.current, event);
      if (!action) return;
      event.preventDefault();
      action();
    };
    const release = (event: KeyboardEvent) => {
      if (event.key === " ") latest.current.painting.holdMove(false);
    };
    document.addEventListener("keydown", press);
    document.addEventListener("keyup", release);
    return () => {
      document.removeEventListener("keydown", press);
      document.removeEventListener("keyup", release);
    };
  }, []);
}

function findAction(targets: KeyTargets, event: KeyboardEvent): (() => void) | undefined {
  const { document: mask, painting, stage } = targets;
  const key = event.key.toLowerCase();
  if (event.ctrlKey || event.metaKey) {
    if (key === "z") return event.shiftKey ? mask.redo : mask.undo;
    return key === "y" ? mask.redo : undefined;
  }
  if (key === " ") return isControl(event.target) ? undefined : () => painting.holdMove(true);
  const tool = TOOL_KEYS[key];
  if (tool) return () => painting.chooseTool(tool);
  const resize = (isLarger: boolean) => () =>
    painting.changeSettings({ size: stepBrushSize(painting.settings.size, isLarger) });
  const zoom = (isLarger: boolean) => () => stage.zoomTo(nextZoom(stage.current().zoom, isLarger));
  const actions: Record<string, () => void> = {
    x: () => painting.chooseTool(painting.tool === "eraser" ? "brush" : "eraser"),
    t: focusFindInput,
    i: () => invertWholeMask(mask),
    "\\": painting.toggleMask,
    "[": resize(false),
    "]": resize(true),
    "+": zoom(true),
    "=": zoom(true),
    "-": zoom(false),
    "0": stage.fit,
    "1": () => stage.zoomTo(1),
  };
  return actions[key];
}

/** A slider is no text field: the keys of the brush work right after its size was dragged. */
const isTyping = (target: EventTarget | null) =>
  (target instanceof HTMLInputElement && target.type !== "range") ||
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement;

const isControl = (target: EventTarget | null) => target instanceof HTMLElement && target.closest("button, a, summary");
