// The palettes an image may have, and how colours named in the prompt tint them.

import { mix, tinted } from "./colour.ts";
import type { SeededRandom } from "./seeded-random.ts";

export type Palette = {
  /** From the top of the sky to the horizon. */
  sky: readonly [string, string, string];
  light: string;
  far: string;
  near: string;
  accent: string;
  isDark: boolean;
};

export type TimeOfDay = "dawn" | "day" | "dusk" | "night" | "mist" | "snow" | "sand" | "spring";

type Row = readonly [...Palette["sky"], light: string, far: string, near: string, accent: string];

const palettes: Record<TimeOfDay, readonly Row[]> = {
  dawn: [
    ["#3b4a7a", "#c98ba0", "#ffd7a8", "#fff1d0", "#a08bab", "#26304f", "#ff9e6b"],
    ["#5b5ea6", "#a79bd3", "#f6d9e4", "#fff4ea", "#a59fd0", "#2d2a55", "#f2789f"],
  ],
  day: [
    ["#3f86c6", "#93c6e8", "#eef5ee", "#fffbe8", "#8fb3c4", "#1f4a52", "#f2b84b"],
    ["#2f7f9e", "#8fd0cf", "#f6f0d8", "#fff6dc", "#86b9b4", "#1b4650", "#f0795b"],
  ],
  dusk: [
    ["#1f2350", "#7a3f74", "#f08a5d", "#ffd28a", "#7d4f7c", "#1a1836", "#ff6f61"],
    ["#3a0f24", "#9c2f38", "#f5a35c", "#ffe3a3", "#8a3644", "#230a1a", "#ffc15e"],
  ],
  night: [
    ["#070b1f", "#15224a", "#3b4f7c", "#f4f1de", "#2f4068", "#060914", "#8fb8ff"],
    ["#071a2b", "#11505a", "#63bf9a", "#e8fff2", "#1f5f66", "#04121c", "#b58cff"],
  ],
  mist: [["#6d7f8c", "#a9b8bd", "#e8e6dc", "#fff8ea", "#a6b5b8", "#2c3e44", "#d9683f"]],
  snow: [["#7d9cc0", "#c3d5e6", "#f6f1ee", "#fffdf6", "#c3d2e0", "#3b5a78", "#e0605a"]],
  sand: [
    ["#d98e5f", "#f0c088", "#fbe8c8", "#fff6e0", "#d9a97d", "#6b3b2e", "#3f7c85"],
    ["#4a6c8c", "#d7a98a", "#f7dcb0", "#fff3d6", "#cf9a72", "#5a3040", "#e2683c"],
  ],
  spring: [["#4aa3a0", "#a9dcbf", "#f7f3d6", "#fffbe0", "#8cc49c", "#1f5a48", "#f2789f"]],
};

const hours = Object.keys(palettes) as TimeOfDay[];

const tint = (palette: Palette, colours: readonly string[]): Palette => {
  const [first, second] = colours;
  if (!first) return palette;
  const skyTint = second ?? first;
  // One colour tints the whole image; of two, the first tints the land and the second the sky.
  const skyShare = second ? 0.75 : 0.6;
  const [top, middle, low] = palette.sky;
  return {
    ...palette,
    sky: [tinted(top, skyTint, skyShare), tinted(middle, skyTint, skyShare), tinted(low, skyTint, skyShare * 0.6)],
    far: tinted(palette.far, first, 0.8),
    near: tinted(palette.near, first, 0.7),
    accent: first,
    light: mix(palette.light, first, 0.12),
  };
};

/** `colours` tint the whole image; `accent` only what stands out in it. */
export type PaletteOptions = { hour?: TimeOfDay | undefined; colours: readonly string[]; accent?: string | undefined };

export const choosePalette = (random: SeededRandom, wish: PaletteOptions): Palette => {
  const hour = wish.hour ?? random.pick(hours);
  const [top, middle, low, light, far, near, accent] = random.pick(palettes[hour]);
  const plain = { sky: [top, middle, low], light, far, near, accent, isDark: hour === "night" } as const;
  const palette = tint(plain, wish.colours);
  return wish.accent ? { ...palette, accent: wish.accent } : palette;
};
