// Thumbnails of images and videos: two small WebP files without metadata, and a thumbhash. An isolated process makes
// them; its reply is untrusted and checked like any other file.

import { isVideo } from "../formats/detect-type.ts";
import { readImageStructure } from "../formats/image-size.ts";
import { stripMetadata, undecodableImage } from "../formats/image-structure.ts";
import type { VideoFile } from "../formats/ranged-file.ts";
import type { DecoderPool } from "./decoder-pool.ts";
import type { DecoderMessage } from "./decoder-protocol.ts";
import { CROPS, FINGERPRINT_BITS } from "./fingerprint.ts";
import { readStructure } from "./image-decoder.ts";
import { splitParts } from "./pixel-tasks.ts";
import type { VideoFrames } from "./video-frames.ts";

export type ThumbnailFile = { bytes: Uint8Array; media_type: "image/webp"; width: number; height: number };
/** `thumbhash` is in base64. `fingerprint`: if it was asked for, and the image has structure. */
export type Thumbnails = { small: ThumbnailFile; large: ThumbnailFile; thumbhash: string; fingerprint?: string };

export type ThumbnailMaker = {
  /** Thumbnails of an image, or of the first frame of a video. Undefined if they are switched off. */
  make(file: VideoFile, options?: { hasFingerprint?: boolean }): Promise<Thumbnails | undefined>;
  /** Fingerprints that an image, or the first frame of a video, can be found by. Empty if it has no structure. */
  fingerprints(bytes: Uint8Array): Promise<string[]>;
};

/** The longer side in pixels. A smaller image keeps its size. */
const THUMBNAIL_SIDES = { small: 320, large: 640 };

/** A run waits for its thumbnails, so they get less time than other work. Results of a burst take turns. */
const WAIT_SECONDS = 10;
const DECODE_SECONDS = 10;
const LIMITS = { waitSeconds: WAIT_SECONDS, seconds: DECODE_SECONDS };
/** Far more than a thumbnail has. */
const MAX_THUMBNAIL_BYTES = 256 * 1024;
/** A thumbhash has 5 to 25 bytes. */
const THUMBHASH = /^[A-Za-z0-9+/]{4,36}={0,2}$/;
const FINGERPRINT = new RegExp(`^[01]{${FINGERPRINT_BITS}}$`);

type ThumbnailOptions = { decoders: Pick<DecoderPool, "perform">; videoFrames: VideoFrames; isEnabled: boolean };

export const createThumbnailMaker = ({ decoders, videoFrames, isEnabled }: ThumbnailOptions): ThumbnailMaker => ({
  async make(file, { hasFingerprint = false } = {}) {
    if (!isEnabled) return undefined;
    const { orientation, clean } = await readImage(videoFrames, file);
    const header = { work: "thumbnails", sides: Object.values(THUMBNAIL_SIDES), orientation, hasFingerprint };
    return readThumbnails(await decoders.perform({ header, bytes: clean }, LIMITS));
  },
  async fingerprints(bytes) {
    const { orientation, clean } = await readImage(videoFrames, bytes);
    const header = { work: "fingerprints", orientation, lost: CROPS };
    const reply = await decoders.perform({ header, bytes: clean }, LIMITS);
    const { error, fingerprints } = reply.header;
    if (error !== undefined || !Array.isArray(fingerprints)) throw undecodableImage("pixels", error);
    return fingerprints.filter((each) => typeof each === "string" && FINGERPRINT.test(each)).slice(0, CROPS.length);
  },
});

/** Only videos are read in ranges. */
async function readImage(videoFrames: VideoFrames, file: VideoFile) {
  const isImage = file instanceof Uint8Array && !isVideo(file);
  const image = isImage ? file : await videoFrames.extract(file, "first");
  const structure = readStructure(image);
  return { orientation: structure.orientation, clean: stripMetadata(image, structure) };
}

function readThumbnails(reply: DecoderMessage): Thumbnails {
  const { error, thumbhash, fingerprint } = reply.header;
  if (error !== undefined) throw undecodableImage("pixels", error);
  const [small, large, ...others] = splitParts(reply);
  if (!small || !large || others.length > 0 || typeof thumbhash !== "string" || !THUMBHASH.test(thumbhash))
    throw undecodableImage("pixels", "the isolated process returned no thumbnails");
  return {
    small: verifyThumbnail(small, THUMBNAIL_SIDES.small),
    large: verifyThumbnail(large, THUMBNAIL_SIDES.large),
    thumbhash,
    ...(typeof fingerprint === "string" && FINGERPRINT.test(fingerprint) && { fingerprint }),
  };
}

function verifyThumbnail(bytes: Uint8Array, maxSide: number): ThumbnailFile {
  const structure = readImageStructure(bytes);
  const { media_type, width, height } = structure;
  const isThumbnail = media_type === "image/webp" && !structure.isAnimated && Math.max(width, height) <= maxSide;
  if (!isThumbnail || bytes.byteLength > MAX_THUMBNAIL_BYTES)
    throw undecodableImage("pixels", "the isolated process returned another image");
  return { bytes: stripMetadata(bytes, structure), media_type, width, height };
}
