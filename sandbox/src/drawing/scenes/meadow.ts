// Green hills with flowers in front.
import { mix } from "../colour.ts";
import { fillBelow, round, type Scene, type SceneContext } from "../scene-context.ts";
import { chooseDisc, sky } from "../sky.ts";
import { rolling } from "../terrain.ts";

const flower = (context: SceneContext, x: number, y: number, size: number): string => {
  const { palette } = context;
  const random = context.chance;
  const petals = random.whole(5, 8);
  const colour = random.pick([
    palette.accent,
    mix(palette.accent, palette.light, 0.55),
    mix(palette.light, palette.sky[0], 0.25),
  ]);
  const sway = random.between(-0.35, 0.35) * size;
  const petal = `<ellipse cy="${round(-size * 0.2)}" rx="${round(size * 0.105)}" ry="${round(size * 0.2)}"/>`;
  const ring = Array.from(
    { length: petals },
    (_, index) => `<g transform="rotate(${round((index * 360) / petals)})">${petal}</g>`,
  );
  const stem = mix(palette.near, palette.accent, 0.12);
  return [
    `<path d="M${round(x + sway)} ${round(y + size * 2.4)}Q${round(x + sway)} ${round(y + size)} ${round(x)} ${round(y)}" fill="none" stroke="${stem}" stroke-width="${round(size * 0.06)}"/>`,
    `<g transform="translate(${round(x)} ${round(y)}) rotate(${random.whole(0, 60)})" fill="${colour}">${ring.join("")}<circle r="${round(size * 0.12)}" fill="${mix("#f2b84b", palette.light, 0.25)}"/></g>`,
  ].join("");
};

const grass = (context: SceneContext, top: number): string => {
  const { width, height, unit, palette, chance: random } = context;
  const blades = Array.from({ length: Math.round((150 * width) / unit) }, () => {
    const x = random.next() * width;
    const y = random.between(top, height * 1.02);
    const tall = unit * random.between(0.03, 0.09);
    return `M${round(x)} ${round(y)}q${round(tall * 0.05)} ${round(-tall * 0.6)} ${round(random.between(-0.4, 0.4) * tall)} ${round(-tall)}`;
  });
  const colour = mix(palette.near, palette.far, 0.35);
  return `<path d="${blades.join("")}" fill="none" stroke="${colour}" stroke-width="${round(unit * 0.003)}" stroke-linecap="round" opacity=".6"/>`;
};

export const meadow: Scene = (context) => {
  const { width, height, unit, palette, chance: random } = context;
  const green = "#6aa84f";
  const hills = [0, 0.35, 0.7, 1].map((depth) => {
    const colour = mix(mix(mix(palette.far, green, 0.4), palette.sky[2], 0.35), mix(palette.near, green, 0.22), depth);
    return fillBelow(rolling(context, height * (0.54 + depth * 0.2), unit * 0.05), context, colour);
  });
  const count = Math.round(26 * Math.min(2, width / unit));
  const flowers = Array.from({ length: count }, (_, index) => {
    const depth = index / count;
    const y = height * (0.68 + depth * 0.27) + random.between(-0.02, 0.02) * height;
    return flower(context, random.next() * width, y, unit * (0.028 + depth * 0.075));
  });
  return (
    sky(context, height * 0.62, chooseDisc(context, height * 0.45)) +
    hills.join("") +
    grass(context, height * 0.75) +
    flowers.join("")
  );
};
