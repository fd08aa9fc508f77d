// A film: a slow camera over the source picture, or over a scene drawn from the prompt.
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { z } from "zod";
import { drawPicture } from "../picture/picture.ts";
import type { KeptRequest } from "../request.ts";
import { framed } from "../retouch/frame.ts";
import { onWhite, openPixels, type Pixels, readSource } from "../sight/pixels.ts";
import { cameraFilter, type Film, filmFor, standing } from "../video/film.ts";
import { fallFilter, fallTile } from "../video/weather.ts";
import type { Task, Work } from "./task.ts";
import { complaintAbout, optionsOf } from "./terms.ts";

const Options = z.object({
  duration: z.number().min(1).max(60).default(3),
  fps: z.number().int().min(1).max(60).default(24),
  motion_bucket_id: z.number().min(1).max(255).default(127),
  cfg_scale: z.number().min(0).max(30).optional(),
});

const filmOf = (request: KeptRequest): Film => {
  const { duration, fps } = optionsOf(Options, request);
  const { width, height } = request;
  const [across = 16, down = 9] = (request.aspect_ratio ?? "16:9").split(":").map(Number);
  const size = width && height ? { width, height } : undefined;
  return filmFor({ duration, fps, ratio: across / down, size });
};

/** The source, whole, in the middle of a picture of the shape of the film. */
const sourceFor = async ({ request, seed, inputs }: Work, film: Film): Promise<Pixels> => {
  if (!request.images.length) {
    const scene = await drawPicture({ prompt: request.prompt, model: "", ...film, seed, index: 0, isBare: true });
    return readSource(scene);
  }
  const source = onWhite(await readSource((await inputs())[0]!, Math.max(film.width, film.height)));
  const share = Math.min(film.width / source.width, film.height / source.height);
  const width = Math.min(film.width, Math.max(1, Math.round(source.width * share)));
  const height = Math.min(film.height, Math.max(1, Math.round(source.height * share)));
  const rgb = await openPixels(source).resize({ width, height, fit: "fill" }).raw().toBuffer();
  const place = { left: (film.width - width) >> 1, top: (film.height - height) >> 1 };
  return framed({ width, height, rgb }, { width: film.width, height: film.height, ...place });
};

/** A format that needs no packing: the file is read once and thrown away. */
const asStill = ({ width, height, rgb }: Pixels): Buffer =>
  Buffer.concat([Buffer.from(`P6\n${width} ${height}\n255\n`), rgb]);

const argumentsFor = (film: Film, filters: string, pictures: readonly string[], target: string): string[] => [
  ...pictures.flatMap((picture) => ["-framerate", String(film.fps), "-f", "image2", "-i", picture]),
  ...["-filter_complex", filters, "-map", "[film]", "-frames:v", String(film.frames), "-r", String(film.fps)],
  ...["-c:v", "libx264", "-preset", "superfast", "-crf", "20", "-pix_fmt", "yuv420p", "-threads", "2"],
  // Without versions and dates in it, the same request gives the same bytes.
  ...["-fflags", "+bitexact", "-flags:v", "+bitexact", "-map_metadata", "-1"],
  ...["-movflags", "+faststart", "-f", "mp4", "-y", target],
];

/** Makes the film beside its place and moves it there when it is whole. */
const shoot = async (work: Work, film: Film) => {
  const { request, seed, file, signal, report, encoder } = work;
  report(0);
  const still = `${file}.ppm`;
  const tile = `${file}.pam`;
  const target = `${file}.part`;
  try {
    await writeFile(still, asStill(await sourceFor(work, film)));
    const fall = await fallTile(request.prompt, film, seed);
    if (fall) await writeFile(tile, fall.picture);
    const camera = { prompt: request.prompt, seed, motion: optionsOf(Options, request).motion_bucket_id };
    const filters = `[0:v]format=yuv420p,${standing(film)},${cameraFilter(film, camera)}${fall ? fallFilter(film, fall.speed) : ""}[film]`;
    const args = argumentsFor(film, filters, fall ? [still, tile] : [still], target);
    const failure = await encoder.encode(args, { signal, onFrame: (frame) => report(frame / film.frames) });
    if (!failure) await rename(target, file);
    return failure;
  } finally {
    await Promise.all([still, tile, target].map((path) => rm(path, { force: true })));
  }
};

export const videoGenerate: Task = {
  name: "video.generate",
  complaint: (request) => {
    if (!request.prompt && !request.images.length) return "prompt: is required without an image";
    return complaintAbout(request, { options: Options });
  },
  find: async (work) => {
    const film = filmOf(work.request);
    const failure = await shoot(work, film);
    if (failure) return { error: failure };
    const { width, height, fps, frames } = film;
    const kind = { media_type: "video/mp4", extension: "mp4" };
    return { outputs: [{ ...kind, width, height, duration: frames / fps, fps }], data: null };
  },
  draw: ({ file }) => readFile(file),
};
