// How jobs end: by themselves, by cancel, and after a restart.
import sharp from "sharp";
import { expect, test } from "vitest";
import { startCallbackReceiver, startSandboxHarness, waitUntil } from "../test/sandbox-harness.ts";

test.each([
  ["fail", "failed", "generation_failed"],
  ["refuse", "refused", "content_policy"],
])("%s ends the job as %s", async (flag, status, code) => {
  const rig = await startSandboxHarness();
  const { body } = await rig.post({ prompt: `[sandbox:${flag},delay=0] a hill` });
  expect(await rig.waitUntilEnded(body.id)).toMatchObject({
    status,
    error: { code },
    outputs: [],
    finished_at: expect.any(String),
  });
});

test("a job without delay has ended at the next request", async () => {
  const rig = await startSandboxHarness();
  const { body } = await rig.post({ prompt: "[sandbox:delay=0] a hill" });
  expect((await rig.call("GET", `/v1/jobs/${body.id}`)).body.status).toBe("succeeded");
});

test("never runs until it is canceled, and can be canceled only once", async () => {
  const rig = await startSandboxHarness();
  const ear = await startCallbackReceiver();
  const { body } = await rig.post({ prompt: "[sandbox:never,delay=0] a hill", callback_url: ear.url });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await rig.call("GET", `/v1/jobs/${body.id}`)).body.status).toBe("running");
  const canceled = await rig.call("POST", `/v1/jobs/${body.id}/cancel`);
  expect(canceled).toMatchObject({ status: 200, body: { id: body.id, status: "canceled" } });
  expect((await rig.call("POST", `/v1/jobs/${body.id}/cancel`)).status).toBe(409);
  expect(await rig.ledger()).toMatchObject([{ status: "canceled", canceled_at: expect.any(String) }]);
  expect((await waitUntil(() => ear.heard[0])).job.status).toBe("canceled");
});

test("a canceled job stays canceled when its time is over", async () => {
  const rig = await startSandboxHarness();
  const { body } = await rig.post({ prompt: "[sandbox:delay=0.1] a hill" });
  await rig.call("POST", `/v1/jobs/${body.id}/cancel`);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect((await rig.waitUntilEnded(body.id)).status).toBe("canceled");
});

test("a job that cannot read its image fails", async () => {
  const rig = await startSandboxHarness();
  const { body } = await rig.post({ images: [{ url: `${rig.url()}/nothing.png` }] });
  expect(await rig.waitUntilEnded(body.id)).toMatchObject({ status: "failed", error: { code: "invalid_input" } });
});

test("images are accepted as bytes and as URLs", async () => {
  const rig = await startSandboxHarness();
  const red = await sharp({ create: { width: 8, height: 8, channels: 3, background: "#c00" } })
    .png()
    .toBuffer();
  const first = await rig.post({
    width: 64,
    height: 64,
    images: [{ base64: red.toString("base64"), media_type: "image/png" }],
  });
  const [output] = (await rig.waitUntilEnded(first.body.id)).outputs;
  expect((await fetch(output!.url)).status).toBe(200);
  const second = await rig.post({ images: [{ url: output!.url }] });
  expect((await rig.waitUntilEnded(second.body.id)).status).toBe("succeeded");
});

test("after a restart the ledger is the same and unfinished jobs run to their end", async () => {
  const rig = await startSandboxHarness();
  const done = await rig.post(
    { seed: 3, width: 32, height: 32, prompt: "[sandbox:delay=0] a hill" },
    { "idempotency-key": "k1" },
  );
  const image = await fetch((await rig.waitUntilEnded(done.body.id)).outputs[0]!.url);
  const bytes = Buffer.from(await image.arrayBuffer());
  const open = await rig.post({ model: "find/one", reference: "r1", prompt: "[sandbox:delay=1.5] a hill" });
  const endless = await rig.post({ prompt: "[sandbox:never] a hill" });
  const before = await rig.ledger();
  await rig.restart();
  const after = await rig.ledger();
  expect(after.map(({ status, ...row }) => row)).toEqual(before.map(({ status, ...row }) => row));
  expect((await rig.post({}, { "idempotency-key": "k1" })).body.id).toBe(done.body.id);
  expect((await rig.call("GET", "/v1/jobs?reference=r1")).body.data).toMatchObject([{ id: open.body.id }]);
  const again = await fetch((await rig.waitUntilEnded(done.body.id)).outputs[0]!.url);
  expect(Buffer.from(await again.arrayBuffer()).equals(bytes)).toBe(true);
  expect((await rig.waitUntilEnded(open.body.id)).status).toBe("succeeded");
  expect((await rig.call("GET", `/v1/jobs/${endless.body.id}`)).body.status).toBe("running");
  expect((await rig.ledger()).find((row) => row.id === done.body.id)).toMatchObject({ posts: 2, delivered: 2 });
});
