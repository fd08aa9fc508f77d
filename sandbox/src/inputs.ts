// The images of a request: stored as files, and fetched like a real vendor does, while the job runs. Files that a job
// creates are stored beside them.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { type Job, usesBlackMask } from "./job.ts";
import type { Image, StoredImage } from "./request.ts";

const fetchMilliseconds = 15_000;

export type InputFiles = {
  /** The SHA-256 of an image, or its URL. */
  nameOf(image: Image): string;
  /** Stores the bytes of an image in a file named by its hash. */
  store(image: Image): StoredImage;
  /** Fetches images that are URLs and checks that all are images; returns the problem, or nothing. */
  fetchAndValidate(job: Job): Promise<string | undefined>;
  /** The images, then the mask: converted to white for the area that changes. */
  read(job: Job): Promise<Buffer[]>;
  /** The bytes of an image of a request, by its name in the ledger. */
  readOriginal(file: string): Promise<Buffer | undefined>;
  /** Path for a file that a job creates. */
  outputPathFor(job: Job): string;
};

const imagesOf = ({ request }: Job): StoredImage[] =>
  request.mask ? [...request.images, request.mask] : request.images;

export const createInputFiles = (dataDir: string, signal: AbortSignal): InputFiles => {
  const folder = join(dataDir, "inputs");
  const made = join(dataDir, "made");
  mkdirSync(folder, { recursive: true });
  mkdirSync(made, { recursive: true });
  const fileOf = (job: Job, image: StoredImage, index: number) =>
    join(folder, "file" in image ? image.file : `${job.id}-${index}`);

  const fetchOne = async (url: string, file: string): Promise<void> => {
    if (existsSync(file)) return;
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(fetchMilliseconds)]) });
    if (!response.ok) throw new Error(`answered ${response.status}`);
    await writeFile(file, Buffer.from(await response.arrayBuffer()));
  };

  const hashOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

  return {
    nameOf: (image) => ("url" in image ? image.url : hashOf(Buffer.from(image.base64, "base64"))),
    store: (image) => {
      if ("url" in image) return image;
      const bytes = Buffer.from(image.base64, "base64");
      const file = hashOf(bytes);
      if (!existsSync(join(folder, file))) writeFileSync(join(folder, file), bytes);
      return { file, media_type: image.media_type };
    },
    fetchAndValidate: async (job) => {
      for (const [index, image] of imagesOf(job).entries()) {
        try {
          const file = fileOf(job, image, index);
          if ("url" in image) await fetchOne(image.url, file);
          await sharp(file).metadata();
        } catch (cause) {
          return `Image ${index} could not be read: ${cause instanceof Error ? cause.message : cause}`;
        }
      }
      return undefined;
    },
    read: async (job) => {
      const all = await Promise.all(imagesOf(job).map((image, index) => readFile(fileOf(job, image, index))));
      if (!job.request.mask || !usesBlackMask(job.request.model)) return all;
      return [...all.slice(0, -1), await sharp(all.at(-1)).flatten().negate().png().toBuffer()];
    },
    readOriginal: async (file) =>
      /^[0-9a-f]{64}$/.test(file) ? readFile(join(folder, file)).catch(() => undefined) : undefined,
    outputPathFor: (job) => join(made, job.id),
  };
};
