// What a video looks like: its size, its frames, and a slow camera that moves over one image.
import { createSeededRandom } from "../drawing/seeded-random.ts";
import type { Size } from "../size.ts";

export type VideoFormat = Size & { fps: number; frames: number };

const longestSide = 1920;
const even = (side: number): number => Math.max(16, Math.round(side / 2) * 2);

/** Many frames are made smaller, so that a long video stays affordable. */
const shortSide = (frames: number): number => {
  if (frames <= 130) return 720;
  return frames <= 400 ? 540 : 480;
};

type VideoOptions = { duration: number; fps: number; ratio: number; size?: Size | undefined };

export const chooseVideoFormat = ({ duration, fps, ratio, size }: VideoOptions): VideoFormat => {
  const frames = Math.max(1, Math.round(duration * fps));
  if (size) return { width: even(size.width), height: even(size.height), fps, frames };
  const short = Math.min(shortSide(frames), longestSide / Math.max(ratio, 1 / ratio));
  return { width: even(short * Math.max(1, ratio)), height: even(short * Math.max(1, 1 / ratio)), fps, frames };
};

/** Where the camera looks: the middle as shares of what is left beside its view, and how near it is (1 sees all). */
type CameraPosition = { x: number; y: number; zoom: number };

const moves: readonly (readonly [RegExp, CameraPosition, CameraPosition])[] = [
  [/zoom(?:ing)? out|pull(?:ing)? back/, { x: 0.5, y: 0.5, zoom: 1 }, { x: 0.5, y: 0.5, zoom: 0 }],
  [/zoom|push(?:ing)? in|dolly/, { x: 0.5, y: 0.5, zoom: 0 }, { x: 0.5, y: 0.5, zoom: 1 }],
  [/(?:pan(?:ning)?|drift|move|moving|camera)[^.]* left/, { x: 1, y: 0.5, zoom: 0.7 }, { x: 0, y: 0.5, zoom: 0.7 }],
  [/(?:pan(?:ning)?|drift|move|moving|camera)[^.]* right/, { x: 0, y: 0.5, zoom: 0.7 }, { x: 1, y: 0.5, zoom: 0.7 }],
  [/tilt(?:ing)? up|rising/, { x: 0.5, y: 1, zoom: 0.7 }, { x: 0.5, y: 0, zoom: 0.7 }],
  [/tilt(?:ing)? down|falling/, { x: 0.5, y: 0, zoom: 0.7 }, { x: 0.5, y: 1, zoom: 0.7 }],
];

/** What the prompt says about the camera, or one of eight gentle ways by the seed. */
const wayFor = (prompt: string, seed: number): readonly [CameraPosition, CameraPosition] => {
  const output = moves.find(([text]) => text.test(prompt.toLowerCase()));
  if (output) return [output[1], output[2]];
  const random = createSeededRandom(`camera ${prompt} ${seed}`);
  const far = { x: 0.5, y: 0.5, zoom: 0.15 };
  const near = { x: random.pick([0.15, 0.85]), y: random.pick([0.3, 0.7]), zoom: 1 };
  return random.next() < 0.65 ? [far, near] : [near, far];
};

/** How much nearer the camera comes at most, from the amount of motion asked for (1 to 255). */
const strengthOf = (motion: number): number => 0.06 + 0.26 * (Math.min(255, Math.max(1, motion)) / 255);

/** One image as an endless video. It is read once; the usual way would read and unpack it again for every frame. */
export const loopStillFilter = ({ fps }: VideoFormat): string => `loop=loop=-1:size=1:start=0,setpts=N/(${fps}*TB)`;

export type CameraMotion = { prompt: string; seed: number; motion: number };

/**
 * The camera as a filter of ffmpeg. It moves by parts of pixels, where the usual zoom filter jumps from one whole pixel
 * to the next and trembles.
 */
export const cameraFilter = (
  { width, height, frames }: VideoFormat,
  { prompt, seed, motion }: CameraMotion,
): string => {
  const [from, to] = wayFor(prompt, seed);
  const strength = strengthOf(motion);
  // Slow at both ends: half a wave of a cosine from 0 to 1.
  const share = `(0.5-0.5*cos(PI*on/${Math.max(1, frames - 1)}))`;
  const between = (start: number, end: number) => `(${start.toFixed(4)}+${(end - start).toFixed(4)}*${share})`;
  const view = `(1/(1+${strength.toFixed(4)}*${between(from.zoom, to.zoom)}))`;
  const left = `(${width}*(1-${view})*${between(from.x, to.x)})`;
  const top = `(${height}*(1-${view})*${between(from.y, to.y)})`;
  const right = `(${left}+${width}*${view})`;
  const bottom = `(${top}+${height}*${view})`;
  const corners = [left, top, right, top, left, bottom, right, bottom];
  const names = ["x0", "y0", "x1", "y1", "x2", "y2", "x3", "y3"];
  const places = corners.map((corner, index) => `${names[index]}='${corner}'`).join(":");
  return `perspective=${places}:interpolation=linear:sense=source:eval=frame`;
};
