// The outputs: valid images, identical for identical requests, and their faults.
import sharp from "sharp";
import { expect, test } from "vitest";
import { type SandboxHarness, startSandboxHarness } from "../../test/sandbox-harness.ts";

const small = { width: 96, height: 64 };

const outputs = async (rig: SandboxHarness, fields: Record<string, unknown>) => {
  const { body } = await rig.post({ ...small, ...fields });
  return (await rig.waitUntilEnded(body.id)).outputs as { url: string }[];
};

const fetchFirst = async (rig: SandboxHarness, fields: Record<string, unknown>) => {
  const response = await fetch((await outputs(rig, fields))[0]!.url);
  return { answer: response, bytes: Buffer.from(await response.arrayBuffer()) };
};

test("the file is a PNG of the requested size, with its type and length", async () => {
  const rig = await startSandboxHarness();
  const { answer: response, bytes } = await fetchFirst(rig, { prompt: "[sandbox:delay=0] the sea" });
  expect(response.headers.get("content-type")).toBe("image/png");
  expect(response.headers.get("content-length")).toBe(String(bytes.length));
  expect(await sharp(bytes).metadata()).toMatchObject({ format: "png", ...small });
});

test("each GET is counted as a delivery, a HEAD is not", async () => {
  const rig = await startSandboxHarness();
  const [output] = await outputs(rig, {});
  await (await fetch(output!.url)).arrayBuffer();
  await (await fetch(output!.url)).arrayBuffer();
  await fetch(output!.url, { method: "HEAD" });
  expect(await rig.ledger()).toMatchObject([{ delivered: 2 }]);
});

test("the same seed gives the same bytes, in another process too; another seed gives another image", async () => {
  const [one, other] = [await startSandboxHarness(), await startSandboxHarness()];
  const first = await fetchFirst(one, { seed: 7 });
  const second = await fetchFirst(other, { seed: 7 });
  const third = await fetchFirst(one, { seed: 8 });
  expect(first.bytes.equals(second.bytes)).toBe(true);
  expect(first.bytes.equals(third.bytes)).toBe(false);
});

test("without a seed every job has its own image, and so has every output of one job", async () => {
  const rig = await startSandboxHarness();
  const first = await fetchFirst(rig, {});
  const second = await fetchFirst(rig, {});
  expect(first.bytes.equals(second.bytes)).toBe(false);
  const urls = (await outputs(rig, { count: 2, seed: 1 })).map((output) => output.url);
  const [left, right] = await Promise.all(urls.map(async (url) => Buffer.from(await (await fetch(url)).arrayBuffer())));
  expect(left!.equals(right!)).toBe(false);
});

test("directives are not drawn", async () => {
  const rig = await startSandboxHarness();
  const reported = await fetchFirst(rig, { seed: 7, prompt: "[sandbox:delay=0.01] a hill" });
  const untold = await fetchFirst(rig, { seed: 7, prompt: "a hill" });
  expect(reported.bytes.equals(untold.bytes)).toBe(true);
});

test("garbage gives a page instead of an image", async () => {
  const rig = await startSandboxHarness();
  const { answer: response, bytes } = await fetchFirst(rig, { prompt: "[sandbox:garbage] a hill" });
  expect(response.headers.get("content-type")).toContain("text/html");
  expect(bytes.toString()).toContain("<!doctype html>");
});

test("truncated gives the first half of the image", async () => {
  const rig = await startSandboxHarness();
  const whole = await fetchFirst(rig, { seed: 7 });
  const half = await fetchFirst(rig, { seed: 7, prompt: "[sandbox:truncated] a hill" });
  expect(half.bytes.equals(whole.bytes.subarray(0, Math.floor(whole.bytes.length / 2)))).toBe(true);
  await expect(sharp(half.bytes, { failOn: "truncated" }).raw().toBuffer()).rejects.toThrow();
});

test("wrong_count gives one output fewer, down to none", async () => {
  const rig = await startSandboxHarness();
  expect(await outputs(rig, { count: 3, prompt: "[sandbox:wrong_count] a hill" })).toHaveLength(2);
  expect(await outputs(rig, { prompt: "[sandbox:wrong_count] a hill" })).toEqual([]);
});

test("gone returns 404 for the output", async () => {
  const rig = await startSandboxHarness();
  const { answer: response } = await fetchFirst(rig, { prompt: "[sandbox:gone] a hill" });
  expect(response.status).toBe(404);
  expect(await rig.ledger()).toMatchObject([{ delivered: 0 }]);
});

test("a file beyond the count, or of another type, is not found", async () => {
  const rig = await startSandboxHarness();
  const [output] = await outputs(rig, {});
  expect((await fetch(output!.url.replace("0.png", "1.png"))).status).toBe(404);
  expect((await fetch(output!.url.replace("0.png", "0.jpg"))).status).toBe(404);
});
