// A field of tiles: discs, quarters, arches and leaves in the colours of the palette.
import { mix } from "../colour.ts";
import { round, type Scene } from "../scene-context.ts";

const discs = (size: number, ink: string, second: string): string =>
  `<circle cx="${round(size / 2)}" cy="${round(size / 2)}" r="${round(size * 0.42)}" fill="${ink}"/><circle cx="${round(size / 2)}" cy="${round(size / 2)}" r="${round(size * 0.18)}" fill="${second}"/>`;

const quarter = (size: number, ink: string, second: string): string =>
  `<path d="M0 0H${round(size)}A${round(size)} ${round(size)} 0 0 1 0 ${round(size)}Z" fill="${ink}"/><path d="M0 0H${round(size / 2)}A${round(size / 2)} ${round(size / 2)} 0 0 1 0 ${round(size / 2)}Z" fill="${second}"/>`;

const arches = (size: number, ink: string, second: string): string =>
  [0.5, 0.34, 0.18]
    .map((reach, index) => {
      const radius = size * reach;
      return `<path d="M${round(size / 2 - radius)} ${round(size)}V${round(size / 2)}a${round(radius)} ${round(radius)} 0 0 1 ${round(radius * 2)} 0V${round(size)}Z" fill="${index % 2 ? second : ink}"/>`;
    })
    .join("");

const leaf = (size: number, ink: string, second: string): string =>
  `<path d="M0 0A${round(size)} ${round(size)} 0 0 1 ${round(size)} ${round(size)}A${round(size)} ${round(size)} 0 0 1 0 0Z" fill="${ink}"/><circle cx="${round(size * 0.8)}" cy="${round(size * 0.2)}" r="${round(size * 0.1)}" fill="${second}"/>`;

const stripes = (size: number, ink: string, second: string): string =>
  Array.from(
    { length: 5 },
    (_, index) =>
      `<rect x="0" y="${round((index * size) / 5)}" width="${round(size)}" height="${round(size / 10)}" fill="${index % 2 ? second : ink}"/>`,
  ).join("");

const motifs = [discs, quarter, quarter, arches, leaf, leaf, stripes];

export const shapes: Scene = (context) => {
  const { width, height, unit, palette, chance: random } = context;
  const size = unit / random.whole(4, 6);
  const [top, middle, low] = palette.sky;
  const colours = [top, middle, low, palette.far, palette.near, palette.accent, palette.light];
  const tiles: string[] = [];
  for (let y = 0; y < height; y += size) {
    for (let x = 0; x < width; x += size) {
      const ground = random.pick(colours);
      const others = colours.filter((colour) => colour !== ground);
      const motif = random.pick(motifs)(size, random.pick(others), random.pick(others));
      const turn = `rotate(${random.whole(0, 3) * 90} ${round(size / 2)} ${round(size / 2)})`;
      tiles.push(
        `<g transform="translate(${round(x)} ${round(y)})"><rect width="${round(size + 0.7)}" height="${round(size + 0.7)}" fill="${mix(ground, palette.light, 0.06)}"/><g transform="${turn}">${motif}</g></g>`,
      );
    }
  }
  return `<rect width="${width}" height="${height}" fill="${low}"/>${tiles.join("")}`;
};
