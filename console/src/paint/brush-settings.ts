// The brush and the look of the mask, kept in the browser: the next visit continues with the same brush.

export const MASK_COLOURS = ["magenta", "green", "yellow", "white"] as const;
export type MaskColour = (typeof MASK_COLOURS)[number];

export type BrushSettings = {
  /** Diameter in pixels of the image. */
  size: number;
  /** In percent: how much of the brush has the full value before it fades. */
  hardness: number;
  colour: MaskColour;
  /** In percent. */
  opacity: number;
};

export const MIN_SIZE = 1;
export const MAX_SIZE = 1000;
const DEFAULTS: BrushSettings = { size: 80, hardness: 80, colour: "magenta", opacity: 55 };
const STORAGE_KEY = "gesso.paint";

type SettingsStorage = Pick<Storage, "getItem" | "setItem">;

export function readBrushSettings(storage: SettingsStorage): BrushSettings {
  try {
    return parseBrushSettings(JSON.parse(storage.getItem(STORAGE_KEY) ?? "{}"));
  } catch {
    return DEFAULTS;
  }
}

export function saveBrushSettings(storage: SettingsStorage, settings: BrushSettings): void {
  storage.setItem(STORAGE_KEY, JSON.stringify(settings));
}

/** A value of the wrong kind becomes the default, because a user or an earlier version can have written it. */
function parseBrushSettings(stored: Partial<Record<keyof BrushSettings, unknown>>): BrushSettings {
  const within = (name: "size" | "hardness" | "opacity", least: number, most: number) => {
    const value = stored[name];
    return typeof value === "number" && value >= least && value <= most ? value : DEFAULTS[name];
  };
  return {
    size: within("size", MIN_SIZE, MAX_SIZE),
    hardness: within("hardness", 0, 100),
    opacity: within("opacity", 0, 100),
    colour: MASK_COLOURS.find((each) => each === stored.colour) ?? DEFAULTS.colour,
  };
}

/** The size after `[` or `]`: steps of about a tenth, so that small brushes change finely and large ones quickly. */
export function stepBrushSize(size: number, isLarger: boolean): number {
  const step = Math.max(1, Math.round(size / 10));
  return Math.min(MAX_SIZE, Math.max(MIN_SIZE, isLarger ? size + step : size - step));
}
