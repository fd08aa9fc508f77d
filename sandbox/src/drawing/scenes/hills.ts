// Ridges behind ridges, paler with distance, mist in the valleys.
import { mix } from "../colour.ts";
import { fillBelow, gradient, type Scene } from "../scene-context.ts";
import { chooseDisc, sky } from "../sky.ts";
import { ridge } from "../terrain.ts";

export const hills: Scene = (context) => {
  const { height, palette, chance: random } = context;
  const horizon = height * 0.62;
  const layers = random.whole(5, 6);
  const drawn = Array.from({ length: layers }, (_, index) => {
    const depth = index / (layers - 1);
    const colour = mix(mix(palette.far, palette.sky[2], 0.35), palette.near, depth ** 0.9);
    const foot = mix(colour, palette.sky[2], 0.55 * (1 - depth));
    const line = ridge(context, height * (0.44 + depth * 0.38), height * (0.17 - depth * 0.07), 0.5 - depth * 0.04);
    const name = `ridge${index}`;
    return `<defs>${gradient(name, [
      [0, colour],
      [0.75, foot],
    ])}</defs>${fillBelow(line, context, `url(#${name})`)}`;
  });
  return sky(context, horizon, chooseDisc(context, height * 0.5)) + drawn.join("");
};
