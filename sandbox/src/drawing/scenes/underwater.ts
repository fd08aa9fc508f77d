// Under water: rays of light from above, bubbles, plants and sand.
import { mix } from "../colour.ts";
import { fillBelow, gradient, round, type Scene } from "../scene-context.ts";
import { rolling } from "../terrain.ts";

const water = "#1f7fb0";

export const underwater: Scene = (context) => {
  const { width, height, unit, palette, chance: random } = context;
  const rays = Array.from({ length: 7 }, () => {
    const x = random.between(-0.1, 1.1) * width;
    const breadth = unit * random.between(0.03, 0.12);
    const slant = unit * random.between(-0.25, 0.05);
    return `M${round(x)} -2h${round(breadth)}L${round(x + breadth * 2.2 + slant)} ${round(height * 0.85)}H${round(x - breadth * 0.6 + slant)}Z`;
  });
  const plants = Array.from({ length: Math.round((16 * width) / unit) }, () => {
    const x = random.next() * width;
    const tall = unit * random.between(0.08, 0.26);
    const sway = tall * random.between(-0.4, 0.4);
    return `M${round(x)} ${round(height * 0.95)}q${round(sway)} ${round(-tall * 0.5)} 0 ${round(-tall)}`;
  });
  const bubbles = Array.from(
    { length: 22 },
    () =>
      `<circle cx="${round(random.next() * width)}" cy="${round(random.between(0.08, 0.85) * height)}" r="${round(unit * random.between(0.003, 0.014))}"/>`,
  );
  return [
    `<defs>${gradient("water", [
      [0, mix(mix(water, palette.sky[1], 0.25), "#ffffff", 0.35)],
      [0.5, mix(water, palette.sky[0], 0.25)],
      [1, mix(water, "#06202f", 0.65)],
    ])}${gradient("ray", [
      [0, "#ffffff", 0.34],
      [1, "#ffffff", 0],
    ])}</defs>`,
    `<rect width="${width}" height="${height}" fill="url(#water)"/><path d="${rays.join("")}" fill="url(#ray)"/>`,
    `<path d="${plants.join("")}" fill="none" stroke="#2f8a6a" stroke-width="${round(unit * 0.014)}" stroke-linecap="round"/>`,
    fillBelow(rolling(context, height * 0.9, unit * 0.03), context, mix("#d9bf8c", "#123a4f", 0.45)),
    `<g fill="#ffffff" fill-opacity=".18" stroke="#ffffff" stroke-opacity=".6" stroke-width="${round(unit * 0.0016)}">${bubbles.join("")}</g>`,
  ].join("");
};
