// A wall and a table, for objects and portraits: a soft light on the wall and a plain top in front.
import { mix } from "../colour.ts";
import { glow, gradient, round, type Scene } from "../scene-context.ts";

export const studio: Scene = ({ width, height, unit, palette, chance: random }) => {
  const wall = mix(palette.sky[1], palette.light, 0.45);
  const wood = random.pick(["#a9764a", "#8a5a3a", "#c49a6c", "#d8cfc2"]);
  const edge = height * 0.66;
  const grain = Array.from({ length: 9 }, (_, index) => {
    const y = edge + (height - edge) * ((index + 0.6) / 9) ** 1.4;
    const sway = unit * random.between(-0.006, 0.006);
    return `M0 ${round(y)}Q${round(width * random.between(0.3, 0.7))} ${round(y + sway)} ${width} ${round(y + sway)}`;
  });
  return [
    `<defs>${gradient("wall", [
      [0, mix(wall, palette.sky[0], 0.25)],
      [1, mix(wall, palette.light, 0.3)],
    ])}${gradient("top", [
      [0, mix(wood, "#ffffff", 0.16)],
      [1, mix(wood, "#1a120c", 0.3)],
    ])}${glow("lamp", "#ffffff", 0.6)}</defs>`,
    `<rect width="${width}" height="${height}" fill="url(#wall)"/>`,
    `<circle cx="${round(width * 0.42)}" cy="${round(height * 0.3)}" r="${round(unit * 0.6)}" fill="url(#lamp)"/>`,
    `<rect y="${round(edge)}" width="${width}" height="${round(height - edge + 2)}" fill="url(#top)"/>`,
    `<path d="${grain.join("")}" fill="none" stroke="${mix(wood, "#1a120c", 0.5)}" stroke-width="${round(unit * 0.003)}" opacity=".28"/>`,
    `<rect y="${round(edge)}" width="${width}" height="${round(unit * 0.006)}" fill="#ffffff" opacity=".3"/>`,
  ].join("");
};
