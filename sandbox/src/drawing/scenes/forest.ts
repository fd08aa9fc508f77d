// Rows of firs in mist: small and pale behind, tall and dark in front.
import { mix } from "../colour.ts";
import { fillBelow, gradient, round, type Scene } from "../scene-context.ts";
import { chooseDisc, sky } from "../sky.ts";
import { heightAt, rolling } from "../terrain.ts";

/** One fir as a path: branches step outwards on their way down. */
const fir = (x: number, foot: number, tall: number, lean: () => number): string => {
  const tiers = 7;
  const broad = tall * 0.2;
  const left: string[] = [];
  const right: string[] = [];
  for (let tier = 1; tier <= tiers; tier += 1) {
    const y = foot - tall * (1 - tier / tiers) * 0.97 - tall * 0.05;
    const reach = broad * (tier / tiers) * lean();
    const waist = broad * (tier / tiers) * 0.45;
    left.push(`${round(x - reach)} ${round(y)}L${round(x - waist)} ${round(y - tall * 0.015)}`);
    right.unshift(`${round(x + waist)} ${round(y - tall * 0.015)}L${round(x + reach)} ${round(y)}`);
  }
  const trunk = tall * 0.018;
  return `M${round(x)} ${round(foot - tall)}L${left.join("L")}L${round(x - trunk)} ${round(foot - tall * 0.05)}V${round(foot + 4)}H${round(x + trunk)}V${round(foot - tall * 0.05)}L${right.join("L")}Z`;
};

export const forest: Scene = (context) => {
  const { width, height, unit, palette, chance: random } = context;
  const layers = 5;
  const drawn = Array.from({ length: layers }, (_, index) => {
    const depth = index / (layers - 1);
    const colour = mix(mix(palette.far, palette.sky[2], 0.45), palette.near, depth);
    const ground = rolling(context, height * (0.56 + depth * 0.32), unit * 0.035);
    const tall = unit * (0.13 + depth * 0.27);
    const step = tall * (0.2 + depth * 0.12);
    const trees: string[] = [];
    for (let x = -step; x < width + step; x += step * random.between(0.55, 1.5)) {
      const size = tall * random.between(0.6, 1.15);
      trees.push(fir(x, heightAt(ground, Math.min(Math.max(x, 0), width)), size, () => random.between(0.75, 1.1)));
    }
    const mist = `<defs>${gradient(`mist${index}`, [
      [0, palette.sky[2], 0],
      [1, palette.sky[2], 0.6 * (1 - depth)],
    ])}</defs>`;
    const top = height * (0.42 + depth * 0.32);
    const veil = `<rect y="${round(top)}" width="${width}" height="${round(height - top)}" fill="url(#mist${index})"/>`;
    return `<path d="${trees.join("")}" fill="${colour}"/>${fillBelow(ground, context, colour)}${mist}${depth < 1 ? veil : ""}`;
  });
  return sky(context, height * 0.66, chooseDisc(context, height * 0.45)) + drawn.join("");
};
