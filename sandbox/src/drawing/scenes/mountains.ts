// One high peak with a snow cap between two lower ones, ridges behind them and at their feet.
import { mix } from "../colour.ts";
import { fillBelow, type Point, round, type Scene, type SceneContext } from "../scene-context.ts";
import { chooseDisc, sky } from "../sky.ts";
import { ridge } from "../terrain.ts";

type Peak = { x: number; top: number; foot: number; breadth: number };

const STEPS = 9;
const SNOW_SHARE = 0.36;

const path = (points: readonly Point[]) => points.map(([x, y]) => `${round(x)} ${round(y)}`).join("L");

/** From the foot up to the summit, with ledges that are small near the summit. */
const slope = ({ chance: random }: SceneContext, { x, top, foot, breadth }: Peak, side: -1 | 1): Point[] =>
  Array.from({ length: STEPS + 1 }, (_, index) => {
    const fall = 1 - index / STEPS;
    const ledge = fall === 0 ? 0 : random.between(-0.05, 0.05) * breadth * (0.3 + fall);
    return [x + side * (breadth * fall ** 0.9 + ledge), top + (foot - top) * fall] as const;
  });

const pointAt = (line: readonly Point[], share: number): Point => {
  const y = (line.at(-1) as Point)[1] + ((line[0] as Point)[1] - (line.at(-1) as Point)[1]) * share;
  const next = line.findIndex(([, height]) => height <= y);
  const [upper, lower] = [line[next] as Point, line[Math.max(next - 1, 0)] as Point];
  const part = lower[1] === upper[1] ? 0 : (lower[1] - y) / (lower[1] - upper[1]);
  return [lower[0] + (upper[0] - lower[0]) * part, y];
};

function drawPeak(context: SceneContext, peak: Peak, distance: number): string {
  const { palette, chance: random } = context;
  const rock = mix(mix(palette.far, palette.near, 0.45), palette.sky[2], distance);
  const shade = mix(rock, palette.near, 0.4);
  const snow = mix(mix("#ffffff", palette.light, 0.25), palette.sky[2], distance * 0.6);
  const [left, right] = [slope(context, peak, -1), slope(context, peak, 1)];
  const summit: Point = [peak.x, peak.top];
  // The crest that parts the light side from the shaded one wanders down from the summit.
  const crest: Point[] = [0.3, 0.55, 0.8, 1].map((share, index) => [
    peak.x + (index % 2 ? 0.07 : -0.03) * peak.breadth * (1 + share),
    peak.top + (peak.foot - peak.top) * share,
  ]);
  const [from, to] = [pointAt(left, SNOW_SHARE * 0.9), pointAt(right, SNOW_SHARE)];
  const drop = (peak.foot - peak.top) * 0.1;
  const zigzag: Point[] = Array.from({ length: 7 }, (_, index) => [
    from[0] + ((to[0] - from[0]) * (index + 1)) / 8,
    from[1] + (index % 2 ? -drop * 0.5 : drop * random.between(0.5, 1.3)),
  ]);
  const above = (line: readonly Point[], [, y]: Point) => line.filter(([, height]) => height < y);
  const cap = [from, ...above(left, from), ...above(right, to).reverse(), to, ...[...zigzag].reverse()];
  const shadedCap = [
    summit,
    ...above(right, to).reverse(),
    to,
    ...[...zigzag.slice(4)].reverse(),
    [peak.x, from[1]] as Point,
  ];
  return [
    `<path d="M${path([...left, ...[...right].reverse()])}Z" fill="${rock}"/>`,
    `<path d="M${path([summit, ...crest, ...right.slice(0, -1)])}Z" fill="${shade}"/>`,
    `<path d="M${path(cap)}Z" fill="${snow}"/>`,
    `<path d="M${path(shadedCap)}Z" fill="${mix(snow, shade, 0.35)}"/>`,
  ].join("");
}

export const mountains: Scene = (context) => {
  const { width, height, unit, palette, chance: random } = context;
  const horizon = height * 0.62;
  const foot = height * 0.86;
  const centre = width * random.between(0.44, 0.56);
  const top = height * random.between(0.2, 0.26);
  const reach = Math.max(unit * 0.52, width * 0.34);
  const peaks: [Peak, number][] = [
    [{ x: centre - reach * 0.85, top: height * random.between(0.38, 0.44), foot, breadth: reach * 0.75 }, 0.3],
    [{ x: centre + reach * 0.9, top: height * random.between(0.36, 0.46), foot, breadth: reach * 0.7 }, 0.25],
    [{ x: centre, top, foot, breadth: reach }, 0.05],
  ];
  const behind = mix(palette.far, palette.sky[2], 0.55);
  const before = [0.78, 0.88].map((y, index) =>
    fillBelow(
      ridge(context, height * y, height * 0.06, 0.46),
      context,
      mix(palette.far, palette.near, 0.6 + index * 0.4),
    ),
  );
  return [
    sky(context, horizon, chooseDisc(context, height * 0.42)),
    fillBelow(ridge(context, height * 0.56, height * 0.12, 0.5), context, behind),
    ...peaks.map(([peak, distance]) => drawPeak(context, peak, distance)),
    ...before,
  ].join("");
};
