import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Fault } from "../../faults/faults.ts";
import { inspectVideo } from "../formats/inspect-video.ts";
import { createDecoderPool } from "./decoder-pool.ts";
import { createImageDecoder } from "./image-decoder.ts";
import { runIsolatedProgram } from "./isolated-program.ts";
import { createVideoFrames, splitPngs } from "./video-frames.ts";

const folder = mkdtempSync(join(tmpdir(), "gesso-frames-"));
const decoders = createDecoderPool({ count: 1, megabytes: 512, seconds: 60 });
const limits = { count: 1, megabytes: 512, seconds: 60 };
const frames = createVideoFrames({ decoders, ...limits });
afterAll(() => {
  decoders.close();
  rmSync(folder, { recursive: true, force: true });
});

const ffmpeg = (...args: string[]) =>
  execFileSync("ffmpeg", ["-loglevel", "error", "-y", ...args], { maxBuffer: 64 * 1024 * 1024 });

/** A video of 20 frames, each another image. */
function createVideo(...options: string[]): { path: string; bytes: Buffer } {
  const path = join(folder, `${options.join("").replace(/\W/g, "")}.mp4`);
  ffmpeg("-f", "lavfi", "-i", "testsrc=size=96x64:rate=10:duration=2", "-pix_fmt", "yuv420p", ...options, path);
  return { path, bytes: readFileSync(path) };
}
/** All frames of a video, in order, as PNG. */
const allFrames = (path: string) =>
  splitPngs(ffmpeg("-i", path, "-f", "image2pipe", "-c:v", "png", "-pix_fmt", "rgb24", "pipe:1"));

describe("a frame of a video", () => {
  it.each([
    ["with its index at the end", ["-movflags", "0"]],
    ["with its index at the start", ["-movflags", "+faststart"]],
    ["with frames that depend on later ones", ["-bf", "3", "-g", "250"]],
    ["with a key frame every fifth frame", ["-g", "5", "-bf", "2"]],
    ["with key frames only", ["-g", "1"]],
  ])("is its first or last, %s", async (_, options) => {
    const { path, bytes } = createVideo("-c:v", "libx264", ...options);
    const expected = allFrames(path);
    expect(expected).toHaveLength(20);
    expect(Buffer.from(await frames.extract(bytes, "first")).equals(expected[0]!)).toBe(true);
    expect(Buffer.from(await frames.extract(bytes, "last")).equals(expected[19]!)).toBe(true);
  });

  it("is the same if the video is read in ranges, and most of the video is not read", async () => {
    const { bytes } = createVideo("-c:v", "libx264", "-g", "5", "-bf", "2");
    const index = bytes.lastIndexOf("moov") - 4;
    // Offsets of the media data count from the start of the file, so the padding comes after them.
    const padding = Buffer.alloc(30 * 1024 * 1024);
    padding.writeUInt32BE(padding.byteLength, 0);
    padding.write("free", 4, "latin1");
    const padded = Buffer.concat([bytes.subarray(0, index), padding, bytes.subarray(index)]);
    let readBytes = 0;
    const ranged = {
      sizeBytes: padded.byteLength,
      read: async (start: number, end: number) => {
        readBytes += end - start;
        return padded.subarray(start, end);
      },
    };
    for (const frame of ["first", "last"] as const)
      expect(Buffer.from(await frames.extract(ranged, frame)).equals(await frames.extract(bytes, frame))).toBe(true);
    expect(await inspectVideo(ranged)).toEqual(await inspectVideo(bytes));
    expect(readBytes).toBeLessThan(padding.byteLength / 4);
  });

  it("is not called damaged while the storage does not return the video", async () => {
    const { bytes } = createVideo("-c:v", "libx264");
    const away = new Fault("asset_unavailable");
    for (const available of [0, 100]) {
      const read = async (start: number, end: number) => {
        if (end > available) throw away;
        return bytes.subarray(start, end);
      };
      await expect(frames.extract({ sizeBytes: bytes.byteLength, read }, "first")).rejects.toBe(away);
      await expect(inspectVideo({ sizeBytes: bytes.byteLength, read })).rejects.toBe(away);
    }
  });

  it("is an image that Gesso accepts as a source", async () => {
    const still = await frames.extract(createVideo("-c:v", "libx264").bytes, "last");
    expect(await createImageDecoder(decoders).normalize(still)).toMatchObject({
      ...{ media_type: "image/png", width: 96, height: 64 },
    });
  });

  it("of a damaged video is refused", async () => {
    const { bytes } = createVideo("-c:v", "libx264");
    const broken = Buffer.from(bytes).fill(0xff, 48, bytes.length - 2000);
    for (const damaged of [broken, Buffer.from("no video"), bytes.subarray(0, 600)])
      await expect(frames.extract(damaged, "last")).rejects.toMatchObject({ code: "frame_unavailable" });
  });

  it("is refused where ffmpeg is missing, and after its time", async () => {
    const { bytes } = createVideo("-c:v", "libx264");
    const missing = createVideoFrames({ decoders, ...limits, ffmpeg: "/nowhere/ffmpeg" });
    await expect(missing.extract(bytes, "first")).rejects.toMatchObject({ code: "frame_unavailable" });
    const slow = createVideoFrames({ decoders, ...limits, seconds: 0.001 });
    await expect(slow.extract(bytes, "first")).rejects.toMatchObject({
      ...{ code: "frame_unavailable", details: { reason: "timeout" } },
    });
  });
});

describe("the process that decodes a video", () => {
  /** What a compromised decoder could do, tried by Node in its place. */
  const ATTACK = `
    const { readFileSync } = require("node:fs");
    const tryTo = (work) => { try { return String(work()).length } catch (thrown) { return thrown.code } };
    require("node:net").connect(9, "127.0.0.1").on("error", (thrown) => {
      console.log(JSON.stringify({
        environment: Object.keys(process.env),
        files: tryTo(() => readFileSync("/etc/passwd")),
        server: tryTo(() => readFileSync("/proc/${process.pid}/environ")),
        socket: thrown.code,
      }));
    });
  `;

  it("has no environment variables, no network, and cannot read files or the server", async () => {
    const result = await runIsolatedProgram({
      profileName: (await decoders.profileName())!,
      command: [process.execPath, "-e", ATTACK],
      input: new Uint8Array(),
      ...{ megabytes: 512, seconds: 60, maxOutputBytes: 10_000 },
    });
    if (!("output" in result)) throw new Error(result.stderr);
    expect(JSON.parse(result.output.toString())).toEqual({
      // The shell that sets the limits adds its folder.
      environment: ["PATH", "PWD"],
      files: "EACCES",
      server: "EACCES",
      socket: expect.stringMatching(/^E(PERM|ACCES|NETUNREACH)$/),
    });
  });

  it("cannot return more than the limit", async () => {
    const result = await runIsolatedProgram({
      profileName: (await decoders.profileName())!,
      command: [process.execPath, "-e", "process.stdout.write(Buffer.alloc(1e6))"],
      input: new Uint8Array(),
      ...{ megabytes: 512, seconds: 60, maxOutputBytes: 1000 },
    });
    expect(result).toMatchObject({ failure: "too_large" });
  });
});
