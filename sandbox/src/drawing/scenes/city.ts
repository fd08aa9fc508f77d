// A skyline in three depths with lit windows.
import { mix } from "../colour.ts";
import { gradient, round, type Scene, type SceneContext } from "../scene-context.ts";
import { chooseDisc, sky } from "../sky.ts";

type Block = { walls: string; windows: string };

const box = (x: number, y: number, wide: number, tall: number): string =>
  `M${round(x)} ${round(y)}h${round(wide)}v${round(tall)}h${round(-wide)}z`;

const tower = (context: SceneContext, x: number, wide: number, tall: number): Block => {
  const { height, unit, chance: random } = context;
  const top = height - tall;
  let layers = box(x, top, wide + 0.6, tall + 4);
  const crown = random.next();
  if (crown < 0.3) layers += box(x + wide * 0.2, top - wide * 0.22, wide * 0.6, wide * 0.25);
  else if (crown < 0.45) layers += box(x + wide * 0.47, top - wide * 0.7, wide * 0.06, wide * 0.75);
  else if (crown < 0.6)
    layers += `M${round(x)} ${round(top)}L${round(x + wide / 2)} ${round(top - wide * 0.5)}l${round(wide / 2)} ${round(wide * 0.5)}z`;
  const cell = unit * 0.017;
  const columns = Math.max(1, Math.floor((wide - cell) / cell));
  const inset = (wide - columns * cell) / 2;
  let windows = "";
  for (let row = 1; row * cell * 1.35 < tall * 0.85; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      if (random.next() > 0.34) continue;
      windows += box(x + inset + column * cell + cell * 0.25, top + row * cell * 1.35, cell * 0.5, cell * 0.7);
    }
  }
  return { walls: layers, windows };
};

const skyline = (context: SceneContext, depth: number): string => {
  const { width, height, unit, palette, chance: random } = context;
  const blocks: Block[] = [];
  let x = -unit * random.between(0, 0.06);
  while (x < width) {
    const wide = unit * random.between(0.05, 0.12) * (0.8 + depth * 0.4);
    // Towers gather towards the middle, as in a real town.
    const middle = 1 - Math.abs(x / width - 0.5);
    const tall = height * (0.56 - depth * 0.2) * random.between(0.45, 1) * (0.6 + middle * 0.5);
    blocks.push(tower(context, x, wide, tall));
    x += wide + (random.next() < 0.25 ? unit * 0.012 : 0);
  }
  const colour = mix(mix(palette.far, palette.sky[2], 0.4), palette.near, depth);
  const lit = mix(palette.accent, palette.light, 0.65);
  const name = `block${Math.round(depth * 10)}`;
  return [
    `<defs>${gradient(name, [
      [0, colour],
      [1, mix(colour, palette.sky[2], 0.4 * (1 - depth))],
    ])}</defs>`,
    `<path d="${blocks.map((block) => block.walls).join("")}" fill="url(#${name})"/>`,
    `<path d="${blocks.map((block) => block.windows).join("")}" fill="${lit}" opacity="${(0.25 + depth * 0.5).toFixed(2)}"/>`,
  ].join("");
};

export const city: Scene = (context) =>
  sky(context, context.height * 0.8, chooseDisc(context, context.height * 0.45)) +
  [0.1, 0.5, 1].map((depth) => skyline(context, depth)).join("");
