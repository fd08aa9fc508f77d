// Where images are decoded in a running Gesso: in isolated processes only, never in a process that holds secrets.
import { readFileSync } from "node:fs";
import sharp from "sharp";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

let environment: TestEnvironment;
let caller: ApiCaller;
beforeAll(async () => {
  environment = await startTestEnvironment({ roles: "split" });
  caller = createHttpCaller(environment);
}, 120_000);
afterAll(() => environment?.stop());

const image = async (background: string) => {
  const bytes = await sharp({ create: { width: 64, height: 64, channels: 3, background } })
    .png()
    .toBuffer();
  return `data:image/png;base64,${bytes.toString("base64")}`;
};
const serverPids = () => {
  const { api, worker } = environment.pids();
  return [api!, worker!];
};

it("no process with secrets loads the decoder library, also not for local work and masks", async () => {
  const images = [await image("#ff0000"), await image("#0000ff")];
  const combined = await caller.post("/combine", { images, sync: true });
  expect(combined.body).toMatchObject({ status: "completed" });
  // This model of the sandbox expects an inverted mask.
  const edited = await caller.post("/edits/gemini-2.5", {
    ...{ prompt: "a red door", image_url: images[0], mask_url: images[0], sync: true },
  });
  expect(edited.body).toMatchObject({ status: "completed" });
  for (const pid of serverPids()) expect(readFileSync(`/proc/${pid}/maps`, "utf8")).not.toMatch(/libvips|sharp-linux/);
});
