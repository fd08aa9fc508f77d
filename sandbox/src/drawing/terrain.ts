// Lines of land: jagged ones by splitting a line again and again, rolling ones by adding a few waves.
import type { Point, SceneContext } from "./scene-context.ts";

/** A ridge across the stage around height `y`, reaching `swing` up and down; `rough` from 0.4 (smooth) to 0.65. */
export const ridge = (context: SceneContext, y: number, swing: number, rough: number): Point[] => {
  const { chance: random, width } = context;
  let heights = [random.between(-1, 1), random.between(-1, 1), random.between(-1, 1), random.between(-1, 1)];
  let reach = 0.9;
  while (heights.length < 160) {
    const finer: number[] = [];
    heights.forEach((height, index) => {
      const following = heights[index + 1];
      finer.push(height);
      if (following !== undefined) finer.push((height + following) / 2 + random.between(-reach, reach));
    });
    heights = finer;
    reach *= rough;
  }
  const step = (width + 4) / (heights.length - 1);
  return heights.map((height, index) => [-2 + index * step, y + height * swing * 0.6] as const);
};

export const rolling = (context: SceneContext, y: number, swing: number): Point[] => {
  const { chance: random, width, unit } = context;
  const span = Math.max(width, unit) * random.between(0.9, 1.5);
  const waves = [1, 2.1, 4.3].map((rate, index) => ({
    rate: (rate * Math.PI * 2) / span,
    turn: random.between(0, Math.PI * 2),
    reach: swing / (index + 1) ** 1.6,
  }));
  const steps = 72;
  return Array.from({ length: steps + 1 }, (_, index) => {
    const x = -2 + ((width + 4) * index) / steps;
    return [x, y + waves.reduce((sum, wave) => sum + Math.sin(x * wave.rate + wave.turn) * wave.reach, 0)] as const;
  });
};

/** The height of a line at `x`, for things that stand on it. */
export const heightAt = (line: readonly Point[], x: number): number => {
  const next = line.findIndex(([place]) => place >= x);
  const right = line[Math.max(next, 1)] as Point;
  const left = line[Math.max(next, 1) - 1] as Point;
  return left[1] + ((right[1] - left[1]) * (x - left[0])) / (right[0] - left[0]);
};
