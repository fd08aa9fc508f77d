// Changes to the whole look of an image, each with its keywords.
import type { Sharp } from "sharp";
import { openPixels, type Pixels } from "../vision/pixels.ts";

type Matrix = [[number, number, number], [number, number, number], [number, number, number]];

/** How a tone is made; `unit` is the shorter side, for what is measured in pixels. */
type Tone = { words: string; make(image: Sharp, unit: number): Sharp };

const mixing =
  (matrix: Matrix) =>
  (image: Sharp): Sharp =>
    image.recomb(matrix);

const grey = (image: Sharp): Sharp =>
  image.recomb([
    [0.299, 0.587, 0.114],
    [0.299, 0.587, 0.114],
    [0.299, 0.587, 0.114],
  ]);

/** Brightness first, then a push apart around the middle. */
const contrast = (image: Sharp, gain: number, lift = 0): Sharp => image.linear(gain, 128 * (1 - gain) + lift);

export const tones = {
  night: {
    words: "night midnight moonlight moonlit dark darkness",
    make: (image) =>
      image
        .recomb([
          [0.3, 0.14, 0.04],
          [0.12, 0.38, 0.08],
          [0.14, 0.3, 0.5],
        ])
        .linear(0.82, 4),
  },
  dusk: {
    words: "sunset dusk evening twilight goldenhour",
    make: (image) =>
      image
        .recomb([
          [0.95, 0.24, 0.06],
          [0.22, 0.6, 0.02],
          [0.18, 0.12, 0.46],
        ])
        .linear(1.02, 6),
  },
  dawn: {
    words: "dawn sunrise morning",
    make: (image) =>
      image
        .recomb([
          [0.86, 0.16, 0.06],
          [0.14, 0.72, 0.08],
          [0.16, 0.18, 0.66],
        ])
        .linear([0.92, 0.88, 0.9], [30, 22, 26]),
  },
  sepia: {
    words: "sepia vintage antique nostalgic retro",
    make: mixing([
      [0.393, 0.769, 0.189],
      [0.349, 0.686, 0.168],
      [0.272, 0.534, 0.131],
    ]),
  },
  grey: {
    words: "monochrome greyscale grayscale blackandwhite noir",
    make: (image) => contrast(grey(image), 1.12),
  },
  negative: { words: "negative invert inverted", make: (image) => image.negate({ alpha: false }) },
  blur: {
    words: "blur blurry blurred soft softer bokeh",
    make: (image, unit) => image.blur(Math.max(0.8, unit * 0.01)),
  },
  sharp: {
    words: "sharp sharper sharpen crisp detailed",
    make: (image) => image.sharpen({ sigma: 1.4, m1: 1, m2: 3 }),
  },
  brighter: { words: "bright brighter brighten lighter lighten sunny", make: (image) => image.linear(1.12, 26) },
  darker: { words: "darker darken dim dimmer moody gloomy", make: (image) => image.linear(0.62, 0) },
  contrast: { words: "contrast dramatic punchy bold", make: (image) => contrast(image, 1.45) },
  vivid: {
    words: "vivid vibrant saturated colourful colorful",
    make: (image) => image.modulate({ saturation: 1.7 }),
  },
  pastel: {
    words: "pastel faded washed pale muted",
    make: (image) => image.modulate({ saturation: 0.6 }).linear(0.72, 66),
  },
  warm: {
    words: "warm warmer autumn autumnal cosy cozy summer",
    make: (image) => image.linear([1.12, 1.0, 0.8], [10, 2, -4]),
  },
  cold: {
    words: "cold cool cooler colder winter wintry icy frozen snow snowy snowing snowfall",
    make: (image) => image.modulate({ saturation: 0.7 }).linear([0.86, 0.98, 1.1], [12, 16, 26]),
  },
  gloom: {
    words: "rain rainy raining storm stormy",
    make: (image) => image.modulate({ saturation: 0.55 }).linear([0.7, 0.76, 0.82], [6, 10, 16]),
  },
  mist: {
    words: "fog foggy mist misty haze hazy",
    make: (image, unit) =>
      image
        .blur(Math.max(0.5, unit * 0.002))
        .modulate({ saturation: 0.6 })
        .linear(0.55, 100),
  },
  paint: {
    words: "painting painted watercolour watercolor oil impressionist gouache",
    make: (image, unit) =>
      image.median(Math.min(9, Math.max(3, Math.round(unit * 0.008) | 1))).modulate({ saturation: 1.3 }),
  },
  comic: {
    words: "cartoon comic anime poster illustration",
    make: (image) => contrast(image.median(5).modulate({ saturation: 1.6 }), 1.25),
  },
} satisfies Record<string, Tone>;

export type ToneName = keyof typeof tones;

const names = Object.keys(tones) as ToneName[];

/** Words of more than one part that mean one tone. */
const joined: readonly (readonly [RegExp, string])[] = [
  [/\bblack[ -]and[ -]white\b|\bb ?& ?w\b/g, " blackandwhite "],
  [/\bgolden[ -]hour\b/g, " goldenhour "],
  [/\bold (photo|photograph|video)\b/g, " vintage "],
];

export const tonesInPrompt = (prompt: string): ToneName[] => {
  const text = joined.reduce((stored, [pattern, word]) => stored.replace(pattern, word), prompt.toLowerCase());
  const content: string[] = text.match(/[a-z]+/g) ?? [];
  return names.filter((name) => tones[name].words.split(" ").some((known) => content.includes(known)));
};

export const applyTone = async (pixels: Pixels, name: ToneName): Promise<Pixels> => {
  const { width, height } = pixels;
  const tone: Tone = tones[name];
  const rgb = await tone.make(openPixels(pixels), Math.min(width, height)).toColourspace("srgb").raw().toBuffer();
  return { width, height, rgb };
};
