// Checks that a file is an MP4 with a video track of known size. Reads only the index, no frames.
import { BufferSource, Input, MP4 } from "mediabunny";
import { Fault } from "../faults.ts";

export type InspectedVideo = { media_type: "video/mp4"; width: number; height: number };

/** MP4 brands that players support. HEIC, AVIF and QuickTime files start with the same box and other brands. */
const BRANDS = new Set(["isom", "iso2", "iso3", "iso4", "iso5", "iso6", "mp41", "mp42", "avc1", "dash", "M4V "]);

export const isVideo = (bytes: Uint8Array): boolean => {
  const start = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  return start.slice(4, 8) === "ftyp" && BRANDS.has(start.slice(8));
};

export async function inspectVideo(bytes: Uint8Array): Promise<InspectedVideo> {
  const invalid = (reason: string, cause?: unknown) => new Fault("provider_output_invalid", { reason }, { cause });
  if (!isVideo(bytes)) throw invalid("not_an_mp4");
  const input = new Input({ source: new BufferSource(bytes), formats: [MP4] });
  const track = await input.getPrimaryVideoTrack().catch((thrown) => {
    throw invalid("damaged_video", thrown);
  });
  if (!track) throw invalid("no_video_track");
  return { media_type: "video/mp4", width: await track.getDisplayWidth(), height: await track.getDisplayHeight() };
}
