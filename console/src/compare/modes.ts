// The ways to compare two images.
export const COMPARE_MODES = ["slider", "side", "flip", "difference"] as const;
export type CompareMode = (typeof COMPARE_MODES)[number];

const STEP = 1;
const LARGE_STEP = 10;

/** The position of the slider in percent after a key; undefined for keys that do not move it. */
export function positionAfterKey(position: number, key: string, isLarge: boolean): number | undefined {
  const step = isLarge ? LARGE_STEP : STEP;
  const moves: Record<string, number> = {
    ArrowLeft: position - step,
    ArrowDown: position - step,
    ArrowRight: position + step,
    ArrowUp: position + step,
    PageDown: position - LARGE_STEP,
    PageUp: position + LARGE_STEP,
    Home: 0,
    End: 100,
  };
  const next = moves[key];
  return next === undefined ? undefined : Math.min(100, Math.max(0, next));
}

export const modeAfter = (mode: CompareMode): CompareMode =>
  COMPARE_MODES[(COMPARE_MODES.indexOf(mode) + 1) % COMPARE_MODES.length] ?? "slider";
