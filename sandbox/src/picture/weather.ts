// What falls over a finished scene when the prompt asks for it.
import { round, type Stage } from "./stage.ts";

export type Weather = "snow" | "rain";

const snow = (stage: Stage): string => {
  const { width, height, unit } = stage;
  const chance = stage.chance.fork("snow");
  const flakes = Array.from({ length: Math.round(170 * Math.min(2, (width * height) / unit ** 2)) }, () => {
    const radius = unit * (0.0012 + chance.next() ** 3 * 0.005);
    return `<circle cx="${round(chance.next() * width)}" cy="${round(chance.next() * height)}" r="${round(radius)}" opacity="${chance.between(0.4, 0.95).toFixed(2)}"/>`;
  });
  return `<g fill="#ffffff">${flakes.join("")}</g>`;
};

const rain = (stage: Stage): string => {
  const { width, height, unit } = stage;
  const chance = stage.chance.fork("rain");
  const drops = Array.from({ length: Math.round(170 * Math.min(2, (width * height) / unit ** 2)) }, () => {
    const length = unit * chance.between(0.02, 0.06);
    return `M${round(chance.between(-0.05, 1.05) * width)} ${round(chance.next() * height)}l${round(-length * 0.22)} ${round(length)}`;
  });
  return `<path d="${drops.join("")}" fill="none" stroke="#f2f6fa" stroke-width="${round(Math.max(unit * 0.0016, 0.5))}" stroke-linecap="round" opacity=".42"/>`;
};

export const fall = (weather: Weather, stage: Stage): string => (weather === "snow" ? snow(stage) : rain(stage));
