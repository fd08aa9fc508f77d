// Checks that a file is an MP4 with a video track of known size. Reads only the index, no frames.
import { Input, MP4 } from "mediabunny";
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
