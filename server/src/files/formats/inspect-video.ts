// Checks that a file is an MP4 with a video track of known size. Reads only the index, no frames.
import { Input, MP4 } from "mediabunny";
import { Fault } from "../../faults/faults.ts";
import { openMediaSource, type VideoFile } from "./ranged-file.ts";

export type InspectedVideo = { media_type: "video/mp4"; width: number; height: number };

/** MP4 brands that players support. HEIC, AVIF and QuickTime files start with the same box and other brands. */
const BRANDS = new Set(["isom", "iso2", "iso3", "iso4", "iso5", "iso6", "mp41", "mp42", "avc1", "dash", "M4V "]);

/** Bytes at the start of a file that tell whether it is a video. */
export const VIDEO_HEAD_BYTES = 12;

export const isVideo = (bytes: Uint8Array): boolean => {
  const start = Buffer.from(bytes.subarray(0, VIDEO_HEAD_BYTES)).toString("latin1");
  return start.slice(4, 8) === "ftyp" && BRANDS.has(start.slice(8));
};

/** Throws provider_output_invalid for another file, and what a read of the file throws. */
export async function inspectVideo(file: VideoFile): Promise<InspectedVideo> {
  const invalid = (reason: string, cause?: unknown) => new Fault("provider_output_invalid", { reason }, { cause });
  const head = file instanceof Uint8Array ? file : await file.read(0, Math.min(VIDEO_HEAD_BYTES, file.sizeBytes));
  if (!isVideo(head)) throw invalid("not_an_mp4");
  const { source, failure } = openMediaSource(file);
  const input = new Input({ source, formats: [MP4] });
  try {
    const track = await input.getPrimaryVideoTrack();
    if (!track) throw invalid("no_video_track");
    return { media_type: "video/mp4", width: await track.getDisplayWidth(), height: await track.getDisplayHeight() };
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    throw failure()?.thrown ?? invalid("damaged_video", thrown);
  } finally {
    input.dispose();
  }
}
