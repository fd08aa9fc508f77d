// The sky that most scenes begin with: a gradient, a sun or moon with its glow, and stars or thin clouds.
import { mix } from "./colour.ts";
import { glow, gradient, round, type SceneContext } from "./scene-context.ts";

export type Disc = { x: number; y: number; radius: number };

export const stars = (context: SceneContext, lowest: number, count: number): string => {
  const { width, unit, palette } = context;
  const random = context.chance.fork("stars");
  const scattered = Math.round(count * Math.min(2, width / unit));
  return Array.from({ length: scattered }, () => {
    const y = random.next() ** 1.4 * lowest;
    const radius = (random.next() ** 5 * 2.2 + 0.7) * (unit / 1024);
    const opacity = round(random.between(0.3, 1) * (1 - (y / lowest) * 0.7));
    return `<circle cx="${round(random.next() * width)}" cy="${round(y)}" r="${radius.toFixed(2)}" fill="${palette.light}" opacity="${opacity}"/>`;
  }).join("");
};

const clouds = (context: SceneContext, horizon: number): string => {
  const { width, unit, palette } = context;
  const random = context.chance.fork("clouds");
  const colour = mix(palette.sky[2], palette.light, 0.6);
  return Array.from({ length: random.whole(3, 6) }, () => {
    const x = random.next() * width;
    const y = random.between(0.1, 0.75) * horizon;
    const length = random.between(0.2, 0.55) * unit;
    const bars = Array.from({ length: 3 }, (_, index) => {
      const bar = length * random.between(0.4, 1);
      const thick = unit * random.between(0.005, 0.013);
      const left = x + random.between(-0.4, 0.2) * length;
      return `<rect x="${round(left)}" y="${round(y + index * unit * 0.016)}" width="${round(bar)}" height="${round(thick)}" rx="${round(thick / 2)}"/>`;
    });
    return `<g fill="${colour}" opacity="${round(random.between(0.2, 0.5))}">${bars.join("")}</g>`;
  }).join("");
};

/** The sky down to `horizon`, with its disc at `disc` unless the scene has none. */
export const sky = (context: SceneContext, horizon: number, disc: Disc): string => {
  const { width, height, unit, palette } = context;
  const [top, middle, low] = palette.sky;
  const isDark = palette.isDark;
  const reach = disc.radius * (isDark ? 5 : 6);
  const moonShade = mix(palette.light, palette.sky[1], 0.16);
  const craters =
    `<g fill="${moonShade}" opacity=".7"><circle cx="${round(disc.x - disc.radius * 0.3)}" cy="${round(disc.y - disc.radius * 0.2)}" r="${round(disc.radius * 0.22)}"/>` +
    `<circle cx="${round(disc.x + disc.radius * 0.35)}" cy="${round(disc.y + disc.radius * 0.3)}" r="${round(disc.radius * 0.16)}"/>` +
    `<circle cx="${round(disc.x + disc.radius * 0.2)}" cy="${round(disc.y - disc.radius * 0.5)}" r="${round(disc.radius * 0.1)}"/></g>`;
  return [
    `<defs>${gradient("sky", [
      [0, top],
      [0.55, middle],
      [1, low],
    ])}${glow("halo", mix(palette.light, low, 0.45), isDark ? 0.4 : 0.7)}</defs>`,
    `<rect width="${width}" height="${height}" fill="${low}"/>`,
    `<rect width="${width}" height="${round(horizon)}" fill="url(#sky)"/>`,
    isDark ? stars(context, horizon, 150) : "",
    `<circle cx="${round(disc.x)}" cy="${round(disc.y)}" r="${round(reach)}" fill="url(#halo)"/>`,
    `<circle cx="${round(disc.x)}" cy="${round(disc.y)}" r="${round(disc.radius)}" fill="${palette.light}" opacity=".96"/>`,
    isDark ? craters : clouds({ ...context, unit }, horizon),
  ].join("");
};

export const chooseDisc = (context: SceneContext, lowest: number): Disc => {
  const random = context.chance.fork("disc");
  return {
    x: context.width * random.between(0.2, 0.8),
    y: lowest * random.between(0.35, 0.72),
    radius: context.unit * random.between(0.055, 0.1),
  };
};
