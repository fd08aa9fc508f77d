// The fingerprint of an image: signs of the low frequencies of its brightness. Copies that were compressed again,
// resized or slightly cropped differ from it in few bits; other images differ in about half of them.

/** One to four channels; the second or the fourth is alpha. */
export type FingerprintPixels = { data: Uint8Array; width: number; height: number; channels: 1 | 2 | 3 | 4 };

export const FINGERPRINT_BITS = 128;
const SIDE = 32;
/** Frequencies per axis that contribute. */
const FREQUENCIES = 16;
/** Standard deviation of the 32 × 32 means, of 255. An image with less has no structure that could be recognized. */
const MIN_DEVIATION = 2;
const GREY = 128;
const LUMA = [0.299, 0.587, 0.114] as const;

/** What a copy may have lost: shares of width and height at each side. */
export type LostMargins = { left: number; top: number; right: number; bottom: number };

const WHOLE: LostMargins = { left: 0, top: 0, right: 0, bottom: 0 };
const SHARE = 0.05;
/** What is searched for: the image as it is, and with margins that a crop of about 5 % removes. */
export const CROPS: LostMargins[] = [
  WHOLE,
  { left: SHARE / 2, top: SHARE / 2, right: SHARE / 2, bottom: SHARE / 2 },
  { left: SHARE, top: SHARE, right: 0, bottom: 0 },
  { left: 0, top: SHARE, right: SHARE, bottom: 0 },
  { left: SHARE, top: 0, right: 0, bottom: SHARE },
  { left: 0, top: 0, right: SHARE, bottom: SHARE },
];

/** Bits that may differ between an image and its copy. */
export const MAX_MATCH_DISTANCE = 16;

/**
 * One text of zeros and ones for each of `lost`: the fingerprint that the image had before it lost these margins. Empty
 * for an image without structure.
 */
export function fingerprintsOf(pixels: FingerprintPixels, lost: readonly LostMargins[] = [WHOLE]): string[] {
  const brightness = readBrightness(pixels);
  const squares = lost.map((margins) => averageCells(brightness, pixels, margins));
  if (squares.some((square) => deviationOf(square) < MIN_DEVIATION)) return [];
  return squares.map((square) => {
    const coefficients = lowFrequencies(square);
    const selected = ORDER.map((index) => coefficients[index]!);
    const median = [...selected].sort((one, other) => one - other)[selected.length / 2]!;
    return selected.map((value) => (value > median ? "1" : "0")).join("");
  });
}

function deviationOf(square: Float64Array): number {
  const mean = square.reduce((sum, value) => sum + value, 0) / square.length;
  return Math.sqrt(square.reduce((sum, value) => sum + (value - mean) ** 2, 0) / square.length);
}

export const hammingDistance = (one: string, other: string): number => {
  let distance = 0;
  for (let at = 0; at < one.length; at++) if (one.charCodeAt(at) !== other.charCodeAt(at)) distance++;
  return distance;
};

/** Frequencies by their sum, lowest first, without the mean. */
const ORDER: number[] = Array.from({ length: FREQUENCIES * FREQUENCIES }, (_, index) => index)
  .map((index) => ({ index, u: index % FREQUENCIES, v: Math.floor(index / FREQUENCIES) }))
  .filter(({ index }) => index > 0)
  .sort((a, b) => a.u + a.v - (b.u + b.v) || a.u - b.u)
  .slice(0, FINGERPRINT_BITS)
  .map(({ index }) => index);

const COSINES = Array.from({ length: FREQUENCIES }, (_, frequency) =>
  Array.from({ length: SIDE }, (_, at) => Math.cos((Math.PI * frequency * (2 * at + 1)) / (2 * SIDE))),
);

/** Transparent pixels are grey. */
function readBrightness({ data, width, height, channels }: FingerprintPixels): Float32Array {
  const brightness = new Float32Array(width * height);
  const hasAlpha = channels === 2 || channels === 4;
  for (let pixel = 0, at = 0; pixel < brightness.length; pixel++, at += channels) {
    const value = channels >= 3 ? LUMA[0] * data[at]! + LUMA[1] * data[at + 1]! + LUMA[2] * data[at + 2]! : data[at]!;
    const alpha = hasAlpha ? data[at + channels - 1]! / 255 : 1;
    brightness[pixel] = value * alpha + GREY * (1 - alpha);
  }
  return brightness;
}

/** The image as a square of 32 × 32 means. Lost margins repeat the pixels at the edge. */
function averageCells(
  brightness: Float32Array,
  { width, height }: Pick<FingerprintPixels, "width" | "height">,
  { left, top, right, bottom }: LostMargins,
): Float64Array {
  const columns = cellsOf(width, left, right);
  const narrow = new Float64Array(SIDE * height);
  for (let y = 0; y < height; y++)
    for (let at = 0; at < columns.count; at++)
      narrow[y * SIDE + columns.cells[at]!]! += brightness[y * width + columns.pixels[at]!]! * columns.weights[at]!;
  const rows = cellsOf(height, top, bottom);
  const square = new Float64Array(SIDE * SIDE);
  for (let at = 0; at < rows.count; at++)
    for (let x = 0; x < SIDE; x++)
      square[rows.cells[at]! * SIDE + x]! += narrow[rows.pixels[at]! * SIDE + x]! * rows.weights[at]!;
  return square;
}

/** Which pixels of a line lie in which of the 32 cells, and how much of a cell each is. Arrays, for speed. */
type Overlaps = { count: number; pixels: Int32Array; cells: Int32Array; weights: Float64Array };

function cellsOf(length: number, before: number, after: number): Overlaps {
  const whole = length / (1 - before - after);
  const size = whole / SIDE;
  const start = whole * before;
  const room = Math.ceil(whole) + 2 * SIDE;
  const overlaps = {
    ...{ pixels: new Int32Array(room), cells: new Int32Array(room), weights: new Float64Array(room) },
  };
  let count = 0;
  for (let cell = 0; cell < SIDE; cell++) {
    const [from, to] = [cell * size - start, (cell + 1) * size - start];
    for (let pixel = Math.floor(from); pixel < to; pixel++) {
      overlaps.pixels[count] = Math.min(Math.max(pixel, 0), length - 1);
      overlaps.cells[count] = cell;
      overlaps.weights[count++] = (Math.min(to, pixel + 1) - Math.max(from, pixel)) / size;
    }
  }
  return { count, ...overlaps };
}

function lowFrequencies(square: Float64Array): Float64Array {
  const rows = new Float64Array(SIDE * FREQUENCIES);
  for (let y = 0; y < SIDE; y++)
    for (let u = 0; u < FREQUENCIES; u++)
      for (let x = 0; x < SIDE; x++) rows[y * FREQUENCIES + u]! += square[y * SIDE + x]! * COSINES[u]![x]!;
  const all = new Float64Array(FREQUENCIES * FREQUENCIES);
  for (let v = 0; v < FREQUENCIES; v++)
    for (let u = 0; u < FREQUENCIES; u++)
      for (let y = 0; y < SIDE; y++) all[v * FREQUENCIES + u]! += rows[y * FREQUENCIES + u]! * COSINES[v]![y]!;
  return all;
}
