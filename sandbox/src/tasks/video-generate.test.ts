// Real videos: probed, stopped, and missing their encoder.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { decodeRaw, drawShapes, fetchBytes, inlineImage, runToSuccess } from "../../test/images.ts";
import { startSandboxHarness, waitUntil } from "../../test/sandbox-harness.ts";

const task = "video.generate";
const run = promisify(execFile);

const stored = (bytes: Buffer): string => {
  const folder = mkdtempSync(join(tmpdir(), "video-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "video.mp4"), bytes);
  return join(folder, "video.mp4");
};

const probe = async (path: string) => {
  const entries = "stream=codec_name,pix_fmt,width,height,r_frame_rate,nb_frames,duration";
  const { stdout } = await run("ffprobe", ["-v", "error", "-show_entries", entries, "-of", "json", path]);
  return JSON.parse(stdout).streams as Record<string, unknown>[];
};

test("a video of an image has the reported duration, frame rate and size", async () => {
  const rig = await startSandboxHarness();
  const options = { duration: 1.5, fps: 12 };
  const job = await runToSuccess(rig, { task, images: [inlineImage(await drawShapes())], prompt: "zoom in", options });
  expect(job.outputs).toMatchObject([{ media_type: "video/mp4", width: 1280, height: 720, duration: 1.5, fps: 12 }]);
  expect(job.outputs[0]!.url).toMatch(/\/0\.mp4$/);
  const bytes = await fetchBytes(job.outputs[0]!.url);
  const path = stored(bytes);
  expect(await probe(path)).toEqual([
    {
      codec_name: "h264",
      pix_fmt: "yuv420p",
      width: 1280,
      height: 720,
      r_frame_rate: "12/1",
      nb_frames: "18",
      duration: "1.500000",
    },
  ]);
  // A player can begin before it has all of the file.
  expect(bytes.indexOf("moov")).toBeLessThan(bytes.indexOf("mdat"));
  const frame = async (number: number) => {
    await run("ffmpeg", [
      "-v",
      "error",
      "-y",
      "-i",
      path,
      "-vf",
      `select=eq(n\\,${number})`,
      "-frames:v",
      "1",
      `${path}-${number}.png`,
    ]);
    return decodeRaw(readFileSync(`${path}-${number}.png`));
  };
  const [first, last] = [await frame(0), await frame(17)];
  const moved = first.data.reduce((sum, byte, at) => sum + Math.abs(byte - last.data[at]!), 0) / first.data.length;
  expect(moved).toBeGreaterThan(1);
});

test("a video from text has even dimensions, and is the same for the same seed", async () => {
  const rig = await startSandboxHarness();
  const fields = { task, prompt: "snow in the forest", width: 180, height: 319, options: { duration: 1, fps: 6 } };
  const job = await runToSuccess(rig, fields);
  expect(job.outputs).toMatchObject([{ width: 180, height: 320, duration: 1, fps: 6 }]);
  const [again, other] = [await runToSuccess(rig, fields), await runToSuccess(rig, { ...fields, seed: 6 })];
  const [one, two, three] = await Promise.all([job, again, other].map(({ outputs }) => fetchBytes(outputs[0]!.url)));
  expect(two!.equals(one!)).toBe(true);
  expect(three!.equals(one!)).toBe(false);
});

test("the progress rises while the video is created, and a cancel stops it", async () => {
  const rig = await startSandboxHarness();
  const { body } = await rig.post({ task, prompt: "the sea", options: { duration: 60, fps: 30 } });
  const look = async () => (await rig.call("GET", `/v1/jobs/${body.id}`)).body;
  const seen = await waitUntil(async () => {
    const { progress } = await look();
    return progress > 0 && progress;
  });
  await waitUntil(async () => (await look()).progress > seen);
  expect((await rig.call("POST", `/v1/jobs/${body.id}/cancel`)).body.status).toBe("canceled");
  // The places at the encoder are free again, or these would wait for the long video.
  const next = await runToSuccess(rig, {
    task,
    prompt: "the sea",
    width: 64,
    height: 64,
    options: { duration: 1, fps: 2 },
  });
  expect(next.status).toBe("succeeded");
  // The long video has not ended by itself in the meantime.
  expect(await look()).toMatchObject({ status: "canceled", outputs: [] });
});

test("a video survives a restart", async () => {
  const rig = await startSandboxHarness();
  const job = await runToSuccess(rig, {
    task,
    prompt: "a hill",
    width: 64,
    height: 64,
    options: { duration: 1, fps: 2 },
  });
  const bytes = await fetchBytes(job.outputs[0]!.url);
  await rig.restart();
  const again = await rig.waitUntilEnded(job.id);
  expect((await fetchBytes(again.outputs[0]!.url)).equals(bytes)).toBe(true);
});

test("without an encoder the job fails with a message", async () => {
  const rig = await startSandboxHarness({ ffmpeg: "no-such-encoder" });
  const { body } = await rig.post({ task, prompt: "a hill", options: { duration: 1 } });
  expect(await rig.waitUntilEnded(body.id)).toMatchObject({
    status: "failed",
    error: { code: "encoder_missing" },
    outputs: [],
  });
});

test.each([{ duration: 0.5 }, { duration: 61 }, { fps: 0 }, { fps: 61 }, { motion_bucket_id: 256 }])(
  "%j is refused",
  async (options) => {
    const rig = await startSandboxHarness();
    expect((await rig.post({ task, prompt: "a hill", options })).status).toBe(422);
  },
);
