// The directives of a job override the default behaviour.
import { createHash } from "node:crypto";
import sharp from "sharp";
import { expect, test } from "vitest";
import { startSandboxHarness } from "../../test/sandbox-harness.ts";

test("the default behaviour applies to all jobs, and a directive overrides it", async () => {
  const rig = await startSandboxHarness();
  expect((await rig.call("GET", "/v1/behaviour")).body).toEqual({});
  expect((await rig.call("PUT", "/v1/behaviour", { delay: 0, fail: true })).status).toBe(200);
  expect((await rig.call("GET", "/v1/behaviour")).body).toEqual({ delay: 0, fail: true });
  const failing = await rig.post({});
  const spared = await rig.post({ prompt: "[sandbox:fail=false] a hill" });
  expect((await rig.waitUntilEnded(failing.body.id)).status).toBe("failed");
  expect((await rig.waitUntilEnded(spared.body.id)).status).toBe("succeeded");
});

test("the behaviour survives a restart and is replaced as a whole", async () => {
  const rig = await startSandboxHarness();
  await rig.call("PUT", "/v1/behaviour", { delay: 0, refuse: true });
  await rig.restart();
  expect((await rig.call("GET", "/v1/behaviour")).body).toEqual({ delay: 0, refuse: true });
  await rig.call("PUT", "/v1/behaviour", { delay: 0.1 });
  expect((await rig.call("GET", "/v1/behaviour")).body).toEqual({ delay: 0.1 });
});

test("the behaviour of an input applies to jobs with this image only, survives a restart, and a directive overrides it", async () => {
  const rig = await startSandboxHarness();
  const [slow, other] = await Promise.all(["#ff0000", "#00ff00"].map(drawInput));
  const path = `/v1/behaviour?input=${createHash("sha256").update(slow!).digest("hex")}`;
  expect((await rig.call("PUT", path, { fail: true })).status).toBe(200);
  await rig.restart();
  expect((await rig.call("GET", path)).body).toEqual({ fail: true });
  expect((await rig.call("GET", "/v1/behaviour")).body).toEqual({});
  const describe = async (bytes: Buffer, prompt?: string) => {
    const images = [{ base64: bytes.toString("base64"), media_type: "image/png" }];
    const { body } = await rig.post({ task: "image.describe", images, prompt });
    return (await rig.waitUntilEnded(body.id)).status;
  };
  expect(await describe(slow!)).toBe("failed");
  expect(await describe(other!)).toBe("succeeded");
  expect(await describe(slow!, "[sandbox:fail=false] x")).toBe("succeeded");
});

const drawInput = (background: string): Promise<Buffer> =>
  sharp({ create: { width: 32, height: 32, channels: 3, background } })
    .png()
    .toBuffer();

test("an unknown key is rejected", async () => {
  const rig = await startSandboxHarness();
  expect((await rig.call("PUT", "/v1/behaviour", { mood: "bad" })).status).toBe(422);
});

test("drop_rate loses about that share of the responses", async () => {
  const rig = await startSandboxHarness();
  await rig.call("PUT", "/v1/behaviour", { delay: 0, drop_rate: 0.5 });
  const responses = await Promise.allSettled(Array.from({ length: 60 }, () => rig.post({})));
  const lost = responses.filter((response) => response.status === "rejected").length;
  expect(lost).toBeGreaterThan(10);
  expect(lost).toBeLessThan(50);
  const rows = await rig.ledger();
  expect(rows).toHaveLength(60);
  expect(rows.filter((row) => row.answer_lost)).toHaveLength(lost);
});
