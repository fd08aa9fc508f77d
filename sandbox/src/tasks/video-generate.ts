// A video: a slow camera over the source image, or over a scene drawn from the prompt.
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { z } from "zod";
import { drawImage } from "../drawing/draw-image.ts";
import type { StoredRequest } from "../request.ts";
import { outpaint } from "../retouch/frame.ts";
import { stampFilter, stampOverlay } from "../video/overlay.ts";
import { precipitationFilter, precipitationTile } from "../video/precipitation.ts";
import { cameraFilter, chooseVideoFormat, loopStillFilter, type VideoFormat } from "../video/video-format.ts";
import { flattenOnWhite, openPixels, type Pixels, readSource } from "../vision/pixels.ts";
import type { Task, TaskRun } from "./task.ts";
import { findRequestProblem, parseOptions } from "./task-requirements.ts";

const Options = z.object({
  duration: z.number().min(1).max(60).default(3),
  fps: z.number().int().min(1).max(60).default(24),
  motion_bucket_id: z.number().min(1).max(255).default(127),
  cfg_scale: z.number().min(0).max(30).optional(),
});

const videoFormatOf = (request: StoredRequest): VideoFormat => {
  const { duration, fps } = parseOptions(Options, request);
  const { width, height } = request;
  const [across = 16, down = 9] = (request.aspect_ratio ?? "16:9").split(":").map(Number);
  const size = width && height ? { width, height } : undefined;
  return chooseVideoFormat({ duration, fps, ratio: across / down, size });
};

/** The source, whole, in the middle of an image of the shape of the video. */
const sourceFor = async ({ request, seed, inputs }: TaskRun, format: VideoFormat): Promise<Pixels> => {
  if (!request.images.length) {
    const scene = await drawImage({ prompt: request.prompt, model: "", ...format, seed, index: 0, isBare: true });
    return readSource(scene);
  }
  const source = flattenOnWhite(await readSource((await inputs())[0]!, Math.max(format.width, format.height)));
  const share = Math.min(format.width / source.width, format.height / source.height);
  const width = Math.min(format.width, Math.max(1, Math.round(source.width * share)));
  const height = Math.min(format.height, Math.max(1, Math.round(source.height * share)));
  const rgb = await openPixels(source).resize({ width, height, fit: "fill" }).raw().toBuffer();
  const place = { left: (format.width - width) >> 1, top: (format.height - height) >> 1 };
  return outpaint({ width, height, rgb }, { width: format.width, height: format.height, ...place });
};

/** A format that needs no packing: the file is read once and thrown away. */
const asStill = ({ width, height, rgb }: Pixels): Buffer =>
  Buffer.concat([Buffer.from(`P6\n${width} ${height}\n255\n`), rgb]);

const argumentsFor = (format: VideoFormat, filters: string, images: readonly string[], target: string): string[] => [
  ...images.flatMap((image) => ["-framerate", String(format.fps), "-f", "image2", "-i", image]),
  ...["-filter_complex", filters, "-map", "[video]", "-frames:v", String(format.frames), "-r", String(format.fps)],
  ...["-c:v", "libx264", "-preset", "superfast", "-crf", "20", "-pix_fmt", "yuv420p", "-threads", "2"],
  // Without versions and dates in it, the same request gives the same bytes.
  ...["-fflags", "+bitexact", "-flags:v", "+bitexact", "-map_metadata", "-1"],
  ...["-movflags", "+faststart", "-f", "mp4", "-y", target],
];

/** Makes the video beside its place and moves it there when it is whole. */
const encodeVideo = async (work: TaskRun, format: VideoFormat) => {
  const { request, seed, file, signal, report, encoder } = work;
  report(0);
  const still = `${file}.ppm`;
  const target = `${file}.part`;
  const overlays: string[] = [];
  const addOverlay = async (image: Buffer): Promise<number> => {
    const path = `${file}.${overlays.length}.pam`;
    overlays.push(path);
    await writeFile(path, image);
    return overlays.length;
  };
  try {
    await writeFile(still, asStill(await sourceFor(work, format)));
    const camera = { prompt: request.prompt, seed, motion: parseOptions(Options, request).motion_bucket_id };
    let filters = `[0:v]format=yuv420p,${loopStillFilter(format)},${cameraFilter(format, camera)}`;
    const fall = await precipitationTile(request.prompt, format, seed);
    if (fall) filters += precipitationFilter(format, fall.speed, await addOverlay(fall.image));
    const stamp = await stampOverlay(format);
    if (stamp) filters += stampFilter(format, await addOverlay(stamp));
    const args = argumentsFor(format, `${filters}[video]`, [still, ...overlays], target);
    const failure = await encoder.encode(args, { signal, onFrame: (frame) => report(frame / format.frames) });
    if (!failure) await rename(target, file);
    return failure;
  } finally {
    await Promise.all([still, target, ...overlays].map((path) => rm(path, { force: true })));
  }
};

export const videoGenerate: Task = {
  name: "video.generate",
  validate: (request) => {
    if (!request.prompt && !request.images.length) return "prompt: is required without an image";
    return findRequestProblem(request, { options: Options });
  },
  find: async (work) => {
    const video = videoFormatOf(work.request);
    const failure = await encodeVideo(work, video);
    if (failure) return { error: failure };
    const { width, height, fps, frames } = video;
    const kind = { media_type: "video/mp4", extension: "mp4" };
    return { outputs: [{ ...kind, width, height, duration: frames / fps, fps }], data: null };
  },
  renderOutput: ({ file }) => readFile(file),
};
