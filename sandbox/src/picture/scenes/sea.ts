// Open water under a low sun: glitter below the disc, swell in front, sometimes an island far out.
import { mix } from "../colour.ts";
import { type Disc, sky } from "../sky.ts";
import { gradient, landUnder, round, type Scene, type Stage } from "../stage.ts";
import { ridge, rolling } from "../terrain.ts";

const bar = (x: number, y: number, length: number, thick: number, opacity: number): string =>
  `<rect x="${round(x - length / 2)}" y="${round(y)}" width="${round(length)}" height="${round(thick)}" rx="${round(thick / 2)}" opacity="${opacity.toFixed(2)}"/>`;

const glitter = (stage: Stage, horizon: number, disc: Disc): string => {
  const { height, unit } = stage;
  const chance = stage.chance.fork("glitter");
  const bars: string[] = [];
  for (let y = horizon + unit * 0.008; y < height * 0.92; y += unit * 0.0085 + (y - horizon) * 0.035) {
    const depth = (y - horizon) / (height - horizon);
    const spread = disc.radius * (0.7 + depth * 2.2);
    const thick = unit * (0.003 + depth * 0.008);
    for (let piece = 0; piece < 3; piece += 1) {
      const x = disc.x + chance.between(-1, 1) * spread;
      bars.push(bar(x, y, spread * chance.between(0.25, 1.1), thick, (1 - depth * 0.8) * chance.between(0.25, 0.85)));
    }
  }
  return `<g fill="${stage.palette.light}">${bars.join("")}</g>`;
};

const ripples = (stage: Stage, horizon: number): string => {
  const { width, height, unit, palette } = stage;
  const chance = stage.chance.fork("ripples");
  const count = Math.round(90 * Math.min(2, width / unit));
  const bars = Array.from({ length: count }, () => {
    const depth = chance.next() ** 1.6;
    const y = horizon + depth * (height - horizon);
    const length = unit * (0.03 + depth * 0.22) * chance.between(0.5, 1.3);
    return bar(chance.next() * width, y, length, unit * (0.0015 + depth * 0.005), chance.between(0.08, 0.28));
  });
  return `<g fill="${mix(palette.sky[2], palette.light, 0.3)}">${bars.join("")}</g>`;
};

export const sea: Scene = (stage) => {
  const { width, height, unit, palette, chance } = stage;
  const horizon = height * chance.between(0.5, 0.6);
  const radius = unit * chance.between(0.07, 0.11);
  const disc = { x: width * chance.between(0.28, 0.72), y: horizon - radius * chance.between(0.9, 2.6), radius };
  const shallow = mix(palette.sky[2], palette.far, 0.6);
  const island = { ...stage, width: width * 2 };
  const swells = [0.1, 0.45, 0.85].map((depth) => {
    const line = rolling(stage, height * (0.83 + depth * 0.13), unit * 0.014);
    return landUnder(line, stage, mix(mix(palette.far, palette.near, 0.75), palette.near, depth));
  });
  return [
    sky(stage, horizon, disc),
    chance.next() < 0.6
      ? `<g transform="translate(${round(-width * chance.between(0.1, 0.8))} 0)">${landUnder(ridge(island, horizon, unit * 0.07, 0.48), island, mix(palette.far, palette.sky[2], 0.3))}</g>`
      : "",
    `<defs>${gradient("water", [
      [0, shallow],
      [0.45, mix(palette.far, palette.near, 0.55)],
      [1, palette.near],
    ])}</defs><rect y="${round(horizon)}" width="${width}" height="${round(height - horizon + 1)}" fill="url(#water)"/>`,
    ripples(stage, horizon),
    glitter(stage, horizon, disc),
    ...swells,
  ].join("");
};
