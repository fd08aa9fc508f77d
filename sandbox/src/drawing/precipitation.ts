// What falls over a finished scene when the prompt asks for it.
import { round, type SceneContext } from "./scene-context.ts";

export type Precipitation = "snow" | "rain";

const snow = (context: SceneContext): string => {
  const { width, height, unit } = context;
  const random = context.chance.fork("snow");
  const flakes = Array.from({ length: Math.round(170 * Math.min(2, (width * height) / unit ** 2)) }, () => {
    const radius = unit * (0.0012 + random.next() ** 3 * 0.005);
    return `<circle cx="${round(random.next() * width)}" cy="${round(random.next() * height)}" r="${round(radius)}" opacity="${random.between(0.4, 0.95).toFixed(2)}"/>`;
  });
  return `<g fill="#ffffff">${flakes.join("")}</g>`;
};

const rain = (context: SceneContext): string => {
  const { width, height, unit } = context;
  const random = context.chance.fork("rain");
  const drops = Array.from({ length: Math.round(170 * Math.min(2, (width * height) / unit ** 2)) }, () => {
    const length = unit * random.between(0.02, 0.06);
    return `M${round(random.between(-0.05, 1.05) * width)} ${round(random.next() * height)}l${round(-length * 0.22)} ${round(length)}`;
  });
  return `<path d="${drops.join("")}" fill="none" stroke="#f2f6fa" stroke-width="${round(Math.max(unit * 0.0016, 0.5))}" stroke-linecap="round" opacity=".42"/>`;
};

export const drawPrecipitation = (weather: Precipitation, context: SceneContext): string =>
  weather === "snow" ? snow(context) : rain(context);
