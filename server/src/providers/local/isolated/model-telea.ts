// Removes the masked area and fills it from its surroundings (Telea's method in OpenCV). Pixels outside the mask stay
// unchanged.
import { blendPixels } from "../../../files/images/isolated/blend.ts";
import { boundingBox } from "../../../files/images/isolated/cut.ts";
import { type Box, type Pixels, readGrey, readPixels, writePixels } from "../../../files/images/isolated/pixels.ts";
import { HOLE_TOO_LARGE, rejectInput } from "../local-task.ts";
import { requireFromFolder } from "../model-packages.ts";
import type { OpenModel } from "../model-process.ts";

/** The functions of OpenCV that are used here. */
type Matrix = { data: Uint8Array; delete(): void };
type OpenCv = {
  Mat: new (rows?: number, columns?: number, type?: number) => Matrix;
  CV_8UC1: number;
  CV_8UC3: number;
  INPAINT_TELEA: number;
  inpaint(image: Matrix, mask: Matrix, result: Matrix, radius: number, method: number): void;
};

const radius = 5;
/** Radius of the surroundings in pixels. */
const margin = 48;

export async function openTelea(folder: string): Promise<OpenModel> {
  const openCv = await loaded(
    requireFromFolder<OpenCv & { onRuntimeInitialized?(): void }>(folder, "@techstark/opencv-js"),
  );

  return async ({ image, mask, mostMaskedPixels = Number.POSITIVE_INFINITY }) => {
    if (!mask) throw rejectInput("mask");
    const source = await readPixels(image);
    const marked = await readGrey(mask, source);
    const hole = boundingBox(marked, source);
    if (!hole) return writePixels(source, "png");
    const part = grown(hole, source);
    if (part.width * part.height > mostMaskedPixels) throw rejectInput(HOLE_TOO_LARGE);
    const filled = { ...source, data: source.data.slice() };
    fill(openCv, { filled, marked, part });
    blendPixels(source, filled, marked);
    return writePixels(source, "png");
  };
}

/** Depending on its version, the package exports a module or a promise of one. */
async function loaded<Module extends { onRuntimeInitialized?(): void; Mat?: unknown }>(
  given: Module | Promise<Module>,
) {
  const module = await given;
  if (!module.Mat) await new Promise<void>((ready) => Object.assign(module, { onRuntimeInitialized: ready }));
  return module;
}

const grown = ({ x, y, width, height }: Box, frame: { width: number; height: number }): Box => {
  const [left, top] = [Math.max(0, x - margin), Math.max(0, y - margin)];
  return {
    x: left,
    y: top,
    width: Math.min(frame.width, x + width + margin) - left,
    height: Math.min(frame.height, y + height + margin) - top,
  };
};

type Work = { filled: Pixels; marked: Uint8Array; part: Box };

function fill(openCv: OpenCv, { filled, marked, part }: Work): void {
  const image = new openCv.Mat(part.height, part.width, openCv.CV_8UC3);
  const hole = new openCv.Mat(part.height, part.width, openCv.CV_8UC1);
  const result = new openCv.Mat();
  eachPixel(filled, part, (from, to) => {
    image.data.set(filled.data.subarray(from * 4, from * 4 + 3), to * 3);
    // Fills all pixels that can change, so that a soft edge does not contain colors of the removed object.
    hole.data[to] = marked[from]! > 0 ? 255 : 0;
  });
  openCv.inpaint(image, hole, result, radius, openCv.INPAINT_TELEA);
  eachPixel(filled, part, (to, from) => filled.data.set(result.data.subarray(from * 3, from * 3 + 3), to * 4));
  for (const matrix of [image, hole, result]) matrix.delete();
}

function eachPixel({ width }: Pixels, part: Box, work: (inFrame: number, inPart: number) => void): void {
  for (let row = 0; row < part.height; row++) {
    const begin = (part.y + row) * width + part.x;
    for (let column = 0; column < part.width; column++) work(begin + column, row * part.width + column);
  }
}
