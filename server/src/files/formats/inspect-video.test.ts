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

  it.each([
    "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:10,\nfile:///etc/passwd\n#EXT-X-ENDLIST",
    "#EXTM3U\n#EXTINF:1,\nconcat:http://127.0.0.1/|file:///etc/passwd",
    "ffconcat version 1.0\nfile /etc/passwd",
    "XBIN\u001a/etc/passwd",
    "<?xml version='1.0'?><MPD><BaseURL>http://127.0.0.1/</BaseURL></MPD>",
    "RIFF\u0024\u0000\u0000\u0000AVI LIST",
    "\u001aE\u00df\u00a3matroska",
    "v=0\no=- 0 0 IN IP4 127.0.0.1\nm=video 9 RTP/AVP 96",
    "GIF89a",
    "<svg xmlns='http://www.w3.org/2000/svg'><image href='file:///etc/passwd'/></svg>",
  ])("that refers to other files, or is no video, is refused: %j", async (text) => {
    for (const bytes of [Buffer.from(text, "latin1"), Buffer.concat([box("isom"), Buffer.from(text, "latin1")])])
      await expect(inspectVideo(bytes)).rejects.toMatchObject({ code: "provider_output_invalid" });
  });
});
