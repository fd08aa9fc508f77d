// Finds the shadow under a thing: what is darker there than the same ground to the left and right, and no other colour.
import type { Box } from "../tasks/task.ts";
import { downscaleForSearch } from "./find-objects.ts";
import { labAt } from "./lab.ts";
import type { Pixels } from "./pixels.ts";

const isShade = (labs: Float32Array, cell: number, ground: number): boolean => {
  const [dark, a, b] = labAt(labs, cell);
  const [light, groundA, groundB] = labAt(labs, ground);
  const drop = light - dark;
  return drop > 0.03 && drop < 0.4 && Math.hypot(a - groundA, b - groundB) < 0.05;
};

/** Keeps what is broad: the soft edge of another thing nearby is dark too, but only a cell wide. */
const broadOnly = (cells: Uint8Array, width: number): Uint8Array =>
  cells.map((cell, at) => {
    if (!cell) return 0;
    const rows = [at - width, at, at + width];
    const near = rows.reduce((sum, row) => sum + (cells[row - 1] ?? 0) + (cells[row] ?? 0) + (cells[row + 1] ?? 0), 0);
    return near >= 6 ? 1 : 0;
  });

/** A mask of the full size: 255 where a shadow of the thing in `box` lies. */
export const shadowUnder = async (pixels: Pixels, box: Box): Promise<Buffer> => {
  const { small, labs } = await downscaleForSearch(pixels);
  const scale = small.width / pixels.width;
  const wide = box.width * 0.35;
  const left = Math.max(0, Math.floor((box.x - wide) * scale));
  const right = Math.min(small.width - 1, Math.ceil((box.x + box.width + wide) * scale));
  const top = Math.floor((box.y + box.height * 0.75) * scale);
  const bottom = Math.min(small.height - 1, Math.ceil((box.y + box.height * 1.25) * scale));
  const shaded = new Uint8Array(small.width * small.height);
  for (let y = top; y <= bottom; y += 1) {
    for (let x = left; x <= right; x += 1) {
      const row = y * small.width;
      // On one side there may be another thing instead of the ground; one witness is enough.
      if (isShade(labs, row + x, row + left) || isShade(labs, row + x, row + right)) shaded[row + x] = 1;
    }
  }
  const cells = broadOnly(shaded, small.width);
  const mask = Buffer.alloc(pixels.width * pixels.height);
  for (let y = Math.floor(top / scale); y < Math.min(pixels.height, (bottom + 1) / scale); y += 1) {
    const row = Math.min(small.height - 1, Math.floor(y * scale)) * small.width;
    for (let x = Math.floor(left / scale); x < Math.min(pixels.width, (right + 1) / scale); x += 1) {
      if (cells[row + Math.min(small.width - 1, Math.floor(x * scale))]) mask[y * pixels.width + x] = 255;
    }
  }
  return mask;
};
