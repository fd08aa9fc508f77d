// Broad bands of colour that flow across the image like folded cloth.
import { mix } from "../colour.ts";
import { glow, gradient, round, type Scene } from "../scene-context.ts";
import { rolling } from "../terrain.ts";

export const ribbons: Scene = (context) => {
  const { width, height, unit, palette, chance: random } = context;
  const [top, middle, low] = palette.sky;
  const ramp = [top, middle, low, palette.accent, palette.far, palette.near];
  const layers = 9;
  const tilt = random.whole(-24, 24);
  const drawn = Array.from({ length: layers }, (_, index) => {
    const place = (index / layers) * (ramp.length - 1);
    const colour = mix(ramp[Math.floor(place)] as string, ramp[Math.ceil(place)] as string, place % 1);
    const line = rolling({ ...context, width: width * 1.6 }, height * (0.02 + (index / layers) * 0.95), unit * 0.1);
    const crest = line.map(([x, y]) => `${round(x - width * 0.3)} ${round(y)}`).join("L");
    const bright = mix(colour, palette.light, 0.45);
    return `<defs>${gradient(`fold${index}`, [
      [0, bright],
      [0.3, colour],
      [1, mix(colour, palette.near, 0.35)],
    ])}</defs><path d="M${round(-width * 0.3)} ${height * 2}L${crest}L${round(width * 1.3)} ${height * 2}Z" fill="url(#fold${index})" opacity=".93"/>`;
  });
  const lamp = `<defs>${glow("lamp", palette.light, 0.5)}</defs><circle cx="${round(width * random.between(0.2, 0.8))}" cy="${round(height * 0.2)}" r="${round(unit * 0.6)}" fill="url(#lamp)"/>`;
  const turn = `rotate(${tilt} ${round(width / 2)} ${round(height / 2)})`;
  return `<rect width="${width}" height="${height}" fill="${mix(top, palette.light, 0.3)}"/><g transform="${turn}">${drawn.join("")}</g>${lamp}`;
};
