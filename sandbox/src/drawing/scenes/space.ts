// A planet among stars, always on a dark sky whatever the palette.
import { mix } from "../colour.ts";
import { glow, gradient, round, type Scene, type SceneContext } from "../scene-context.ts";
import { stars } from "../sky.ts";

const nebula = (context: SceneContext): string => {
  const { width, height, unit, palette } = context;
  const random = context.chance.fork("nebula");
  const colours = [palette.accent, palette.sky[1], palette.sky[2]];
  return colours
    .map((colour, index) => {
      const name = `cloud${index}`;
      const reach = unit * random.between(0.4, 0.7);
      return `<defs>${glow(name, colour, 0.45)}</defs><circle cx="${round(random.next() * width)}" cy="${round(random.between(0.1, 0.8) * height)}" r="${round(reach)}" fill="url(#${name})"/>`;
    })
    .join("");
};

const planet = (context: SceneContext, x: number, y: number, radius: number): string => {
  const { palette, chance: random } = context;
  const bands = Array.from({ length: 7 }, (_, index) => {
    const thick = radius * random.between(0.08, 0.3);
    const colour = mix(palette.accent, index % 2 ? palette.light : palette.far, random.between(0.2, 0.7));
    return `<rect x="${round(-radius)}" y="${round(-radius + index * radius * 0.3)}" width="${round(radius * 2)}" height="${round(thick)}" fill="${colour}" opacity=".6"/>`;
  });
  const tilt = random.whole(-28, 28);
  const ring = (half: string) =>
    `<path d="M${round(-radius * 1.75)} 0A${round(radius * 1.75)} ${round(radius * 0.42)} 0 0 ${half} ${round(radius * 1.75)} 0" fill="none" stroke="${palette.light}" stroke-opacity=".65" stroke-width="${round(radius * 0.09)}"/>`;
  const hasRing = random.next() < 0.7;
  return [
    `<defs><clipPath id="globe"><circle r="${round(radius)}"/></clipPath>${gradient(
      "shade",
      [
        [0.2, "#05060f", 0],
        [1, "#05060f", 0.82],
      ],
      true,
    )}${glow("air", palette.accent, 0.55)}</defs>`,
    `<g transform="translate(${round(x)} ${round(y)}) rotate(${tilt})"><circle r="${round(radius * 1.5)}" fill="url(#air)"/>`,
    hasRing ? ring("1") : "",
    `<g clip-path="url(#globe)"><circle r="${round(radius)}" fill="${palette.accent}"/>${bands.join("")}<rect x="${round(-radius)}" y="${round(-radius)}" width="${round(radius * 2)}" height="${round(radius * 2)}" fill="url(#shade)"/></g>`,
    hasRing ? ring("0") : "",
    "</g>",
  ].join("");
};

export const space: Scene = (context) => {
  const { width, height, unit, palette, chance: random } = context;
  const deep = mix("#05060f", palette.sky[0], 0.18);
  const moons = Array.from({ length: random.whole(1, 3) }, () => {
    const radius = unit * random.between(0.012, 0.04);
    return `<circle cx="${round(random.between(0.08, 0.92) * width)}" cy="${round(random.between(0.08, 0.65) * height)}" r="${round(radius)}" fill="${mix(palette.light, palette.far, random.next() * 0.7)}"/>`;
  });
  return [
    `<rect width="${width}" height="${height}" fill="${deep}"/>`,
    nebula(context),
    stars(context, height, 260),
    moons.join(""),
    planet(
      context,
      width * random.between(0.32, 0.68),
      height * random.between(0.32, 0.48),
      unit * random.between(0.15, 0.22),
    ),
  ].join("");
};
