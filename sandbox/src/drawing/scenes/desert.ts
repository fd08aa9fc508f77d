// Dunes in low light: each one bright on the side of the sun and dark behind its crest.
import { mix } from "../colour.ts";
import { fillBelow, gradient, round, type Scene } from "../scene-context.ts";
import { chooseDisc, sky } from "../sky.ts";
import { rolling } from "../terrain.ts";

export const desert: Scene = (context) => {
  const { width, height, unit, palette, chance: random } = context;
  const disc = chooseDisc(context, height * 0.48);
  const layers = 5;
  const drawn = Array.from({ length: layers }, (_, index) => {
    const depth = index / (layers - 1);
    const body = mix(mix(palette.far, palette.sky[2], 0.3), palette.near, depth * 0.85);
    const lit = mix(body, palette.light, 0.35 * (1 - depth * 0.6));
    const line = rolling(context, height * (0.56 + depth * 0.3), unit * (0.05 + depth * 0.03));
    const sunLeft = disc.x < width / 2;
    const crest = line.map(([x, y]) => `${round(x)} ${round(y)}`).join("L");
    return [
      `<defs>${gradient(
        `dune${index}`,
        sunLeft
          ? [
              [0, lit],
              [random.between(0.4, 0.7), body],
            ]
          : [
              [random.between(0.3, 0.6), body],
              [1, lit],
            ],
        true,
      )}</defs>`,
      fillBelow(line, context, `url(#dune${index})`),
      `<path d="M${crest}" fill="none" stroke="${palette.light}" stroke-width="${round(unit * 0.003)}" opacity="${(0.5 - depth * 0.3).toFixed(2)}"/>`,
    ].join("");
  });
  return sky(context, height * 0.6, disc) + drawn.join("");
};
