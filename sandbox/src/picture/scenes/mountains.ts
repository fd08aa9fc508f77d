// Ridges behind ridges, paler with distance, mist in the valleys.
import { mix } from "../colour.ts";
import { chooseDisc, sky } from "../sky.ts";
import { gradient, landUnder, type Scene } from "../stage.ts";
import { ridge } from "../terrain.ts";

export const mountains: Scene = (stage) => {
  const { height, palette, chance } = stage;
  const horizon = height * 0.62;
  const layers = chance.whole(5, 6);
  const drawn = Array.from({ length: layers }, (_, index) => {
    const depth = index / (layers - 1);
    const colour = mix(mix(palette.far, palette.sky[2], 0.35), palette.near, depth ** 0.9);
    const foot = mix(colour, palette.sky[2], 0.55 * (1 - depth));
    const line = ridge(stage, height * (0.44 + depth * 0.38), height * (0.17 - depth * 0.07), 0.5 - depth * 0.04);
    const name = `ridge${index}`;
    return `<defs>${gradient(name, [
      [0, colour],
      [0.75, foot],
    ])}</defs>${landUnder(line, stage, `url(#${name})`)}`;
  });
  return sky(stage, horizon, chooseDisc(stage, height * 0.5)) + drawn.join("");
};
