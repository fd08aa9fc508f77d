import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inspectVideo } from "./inspect-video.ts";

const box = (brand: string) =>
  Buffer.concat([Buffer.from([0, 0, 0, 16]), Buffer.from(`ftyp${brand}`), Buffer.alloc(4)]);

describe("a video", () => {
  it("has its size read if it is a valid MP4", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "gesso-video-")), "a.mp4");
    const source = ["-f", "lavfi", "-i", "testsrc=size=96x64:rate=10:duration=1"];
    execFileSync("ffmpeg", ["-loglevel", "error", ...source, "-pix_fmt", "yuv420p", path]);
    expect(await inspectVideo(readFileSync(path))).toEqual({ media_type: "video/mp4", width: 96, height: 64 });
  });

  it.each([box("heic"), box("avif"), box("qt  "), box("isom"), Buffer.alloc(0)])(
    "of another format is refused",
    async (bytes) => {
      await expect(inspectVideo(bytes)).rejects.toMatchObject({ code: "provider_output_invalid" });
    },
  );
});
