// Checks that a file is an MP4 with a video track of known size, and reads what other recordings say about themselves.
// Reads only the index, no frames.
import { ALL_FORMATS, Input, MP4 } from "mediabunny";
import { Fault } from "../../faults/faults.ts";
import { isVideo, TYPE_BYTES } from "./detect-type.ts";
import { openMediaSource, type VideoFile } from "./ranged-file.ts";

export type InspectedVideo = { media_type: "video/mp4"; width: number; height: number };

/** Throws provider_output_invalid for another file, and what a read of the file throws. */
export async function inspectVideo(file: VideoFile): Promise<InspectedVideo> {
  const invalid = (reason: string, cause?: unknown) => new Fault("provider_output_invalid", { reason }, { cause });
  const head = file instanceof Uint8Array ? file : await file.read(0, Math.min(TYPE_BYTES, file.sizeBytes));
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

export type MediaFacts = { width: number | null; height: number | null; duration?: number };
const NO_FACTS: MediaFacts = { width: null, height: null };

/**
 * The size and duration of a video or sound in another format, as far as its index tells. A file that cannot be read is
 * none the worse: it was paid for. Throws only what a read of the file throws.
 */
export async function readMediaFacts(file: VideoFile, mediaType: string): Promise<MediaFacts> {
  if (!/^(video|audio)\//.test(mediaType)) return NO_FACTS;
  const { source, failure } = openMediaSource(file);
  const input = new Input({ source, formats: ALL_FORMATS });
  try {
    const video = await input.getPrimaryVideoTrack();
    const size = video && { width: await video.getDisplayWidth(), height: await video.getDisplayHeight() };
    const duration = await input.computeDuration();
    return { ...NO_FACTS, ...size, ...(duration > 0 && { duration: Math.round(duration * 1000) / 1000 }) };
  } catch {
    const failed = failure();
    if (failed) throw failed.thrown;
    return NO_FACTS;
  } finally {
    input.dispose();
  }
}
