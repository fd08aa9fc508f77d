// Open water under a low sun: glitter below the disc, swell in front, sometimes an island far out.
import { mix } from "../colour.ts";
import { fillBelow, gradient, round, type Scene, type SceneContext } from "../scene-context.ts";
import { type Disc, sky } from "../sky.ts";
import { ridge, rolling } from "../terrain.ts";

const bar = (x: number, y: number, length: number, thick: number, opacity: number): string =>
  `<rect x="${round(x - length / 2)}" y="${round(y)}" width="${round(length)}" height="${round(thick)}" rx="${round(thick / 2)}" opacity="${opacity.toFixed(2)}"/>`;

const glitter = (context: SceneContext, horizon: number, disc: Disc): string => {
  const { height, unit } = context;
  const random = context.chance.fork("glitter");
  const bars: string[] = [];
  for (let y = horizon + unit * 0.008; y < height * 0.92; y += unit * 0.0085 + (y - horizon) * 0.035) {
    const depth = (y - horizon) / (height - horizon);
    const spread = disc.radius * (0.7 + depth * 2.2);
    const thick = unit * (0.003 + depth * 0.008);
    for (let piece = 0; piece < 3; piece += 1) {
      const x = disc.x + random.between(-1, 1) * spread;
      bars.push(bar(x, y, spread * random.between(0.25, 1.1), thick, (1 - depth * 0.8) * random.between(0.25, 0.85)));
    }
  }
  return `<g fill="${context.palette.light}">${bars.join("")}</g>`;
};

const ripples = (context: SceneContext, horizon: number): string => {
  const { width, height, unit, palette } = context;
  const random = context.chance.fork("ripples");
  const count = Math.round(90 * Math.min(2, width / unit));
  const bars = Array.from({ length: count }, () => {
    const depth = random.next() ** 1.6;
    const y = horizon + depth * (height - horizon);
    const length = unit * (0.03 + depth * 0.22) * random.between(0.5, 1.3);
    return bar(random.next() * width, y, length, unit * (0.0015 + depth * 0.005), random.between(0.08, 0.28));
  });
  return `<g fill="${mix(palette.sky[2], palette.light, 0.3)}">${bars.join("")}</g>`;
};

export const sea: Scene = (context) => {
  const { width, height, unit, palette, chance: random } = context;
  const horizon = height * random.between(0.5, 0.6);
  const radius = unit * random.between(0.07, 0.11);
  const disc = { x: width * random.between(0.28, 0.72), y: horizon - radius * random.between(0.9, 2.6), radius };
  const shallow = mix(palette.sky[2], palette.far, 0.6);
  const island = { ...context, width: width * 2 };
  const swells = [0.1, 0.45, 0.85].map((depth) => {
    const line = rolling(context, height * (0.83 + depth * 0.13), unit * 0.014);
    return fillBelow(line, context, mix(mix(palette.far, palette.near, 0.75), palette.near, depth));
  });
  return [
    sky(context, horizon, disc),
    random.next() < 0.6
      ? `<g transform="translate(${round(-width * random.between(0.1, 0.8))} 0)">${fillBelow(ridge(island, horizon, unit * 0.07, 0.48), island, mix(palette.far, palette.sky[2], 0.3))}</g>`
      : "",
    `<defs>${gradient("water", [
      [0, shallow],
      [0.45, mix(palette.far, palette.near, 0.55)],
      [1, palette.near],
    ])}</defs><rect y="${round(horizon)}" width="${width}" height="${round(height - horizon + 1)}" fill="url(#water)"/>`,
    ripples(context, horizon),
    glitter(context, horizon, disc),
    ...swells,
  ].join("");
};
