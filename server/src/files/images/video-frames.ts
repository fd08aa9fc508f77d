// Takes a still of a video. Only the frames that the still depends on are read, here in TypeScript; ffmpeg decodes them
// in an isolated process, which sees neither the rest of the file nor anything of the server.
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  BufferTarget,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Input,
  MP4,
  Mp4OutputFormat,
  Output,
  type Source,
} from "mediabunny";
import { Fault } from "../../faults/faults.ts";
import type { Clock } from "../../runtime/clock.ts";
import { openMediaSource, type VideoFile } from "../formats/ranged-file.ts";
import { createSemaphore, type DecoderPool } from "./decoder-pool.ts";
import { PATH } from "./decoder-process.ts";
import { runIsolatedProgram } from "./isolated-program.ts";

export type VideoFrames = {
  /** The first or last frame as a PNG. The caller inspects it like any other file. */
  extract(video: VideoFile, frame: "first" | "last"): Promise<Uint8Array>;
};

type VideoFrameOptions = {
  decoders: Pick<DecoderPool, "profileName">;
  /** How many videos are decoded at the same time. */
  count: number;
  megabytes: number;
  seconds: number;
  /** The path of ffmpeg. Undefined: this machine has none. */
  ffmpeg?: string | undefined;
  clock?: Pick<Clock, "after">;
};

/** The last frames of a video are all taken and the last one is used: a decoder may return fewer than it was given. */
const LAST_FRAMES = 4;
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
/** The frames from the last key frame on are in memory. A video without further key frames could be all of it. */
const MAX_CUT_BYTES = 100 * 1024 * 1024;
const PNG_SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");

const findFfmpeg = (): string | undefined =>
  PATH.split(":")
    .map((folder) => join(folder, "ffmpeg"))
    .find(existsSync);

export const createVideoFrames = ({
  decoders,
  count,
  megabytes,
  seconds,
  ffmpeg = findFfmpeg(),
  clock,
}: VideoFrameOptions): VideoFrames => {
  const withSlot = createSemaphore(count, clock);
  return {
    extract: (video, frame) =>
      withSlot(async () => {
        if (!ffmpeg) throw unavailable("ffmpeg_missing");
        const profileName = await decoders.profileName();
        if (profileName === undefined) throw new Fault("dependency_unavailable", { dependency: "decoder" });
        const { source, failure } = openMediaSource(video);
        const { bytes, packetCount } = await cutVideo(source, frame).catch((thrown) => {
          throw failure()?.thrown ?? unavailable("damaged_video", thrown);
        });
        const command = [ffmpeg, ...ffmpegArguments(Math.max(0, packetCount - LAST_FRAMES))];
        const limits = { megabytes, seconds, maxOutputBytes: MAX_OUTPUT_BYTES, ...(clock && { clock }) };
        const result = await runIsolatedProgram({ profileName, command, input: bytes, ...limits });
        if ("failure" in result) throw unavailable(result.failure, result.stderr);
        const still = splitPngs(result.output).at(-1);
        if (!still) throw unavailable("no_frame");
        return still;
      }),
  };
};

const unavailable = (reason: string, cause?: unknown) => new Fault("frame_unavailable", { reason }, { cause });

/** A video of the frames from the last key frame on, or of the first key frame only, with its index at the start. */
async function cutVideo(video: Source, frame: "first" | "last"): Promise<{ bytes: Uint8Array; packetCount: number }> {
  const track = await new Input({ source: video, formats: [MP4] }).getPrimaryVideoTrack();
  const [codec, decoderConfig] = [await track?.getCodec(), await track?.getDecoderConfig()];
  if (!track || !codec || !decoderConfig) throw new Error("The file has no video track that can be decoded.");
  const sink = new EncodedPacketSink(track);
  const start = frame === "first" ? await sink.getFirstKeyPacket() : await sink.getKeyPacket(Number.POSITIVE_INFINITY);
  if (!start) throw new Error("The video has no key frame.");
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: "in-memory" }), target });
  const source = new EncodedVideoPacketSource(codec);
  output.addVideoTrack(source, { rotation: await track.getRotation() });
  await output.start();
  let packetCount = 0;
  let cutBytes = 0;
  for await (const packet of sink.packets(start)) {
    // Frames that are shown before the key frame may depend on frames that are not part of the cut.
    if (packet.timestamp < start.timestamp) continue;
    cutBytes += packet.byteLength;
    if (cutBytes > MAX_CUT_BYTES) throw new Error("The frames that the still depends on are too large.");
    await source.add(packet.clone({ timestamp: packet.timestamp - start.timestamp }), { decoderConfig });
    packetCount++;
    if (frame === "first") break;
  }
  await output.finalize();
  if (!target.buffer) throw new Error("The video could not be cut.");
  return { bytes: new Uint8Array(target.buffer), packetCount };
}

const ffmpegArguments = (skippedFrames: number): string[] => [
  ...["-hide_banner", "-nostdin", "-v", "error", "-threads", "2"],
  // Nothing but the bytes on its input, read as this one format.
  ...["-protocol_whitelist", "pipe", "-f", "mov", "-i", "pipe:0", "-map", "0:v:0"],
  ...["-vf", `select=gte(n\\,${skippedFrames})`, "-fps_mode", "passthrough"],
  ...["-f", "image2pipe", "-c:v", "png", "-pix_fmt", "rgb24", "pipe:1"],
];

/** PNG files one after the other. What is not a PNG ends the list. */
export function splitPngs(bytes: Buffer): Buffer[] {
  const files: Buffer[] = [];
  let start = 0;
  while (bytes.subarray(start, start + PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) {
    let at = start + PNG_SIGNATURE.length;
    let type = "";
    while (type !== "IEND" && at + 12 <= bytes.length) {
      type = bytes.toString("latin1", at + 4, at + 8);
      at += 12 + bytes.readUInt32BE(at);
    }
    if (type !== "IEND" || at > bytes.length) break;
    files.push(bytes.subarray(start, at));
    start = at;
  }
  return files;
}
