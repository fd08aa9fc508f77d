import { expect, it } from "vitest";
import { decoderSandboxProfiles } from "../files/images/decoder-sandbox.ts";
import { checkIsolation, tryIsolation } from "./check-isolation.ts";

const settings = { DECODER_MEGABYTES: 256, ALLOW_WEAK_ISOLATION: false };
const weak = decoderSandboxProfiles({ megabytes: 256 }).slice(-1);

it("passes with the name of the profile where processes are isolated", async () => {
  expect(await checkIsolation(settings)).toMatchObject({
    status: "pass",
    message: expect.stringContaining("filtered"),
  });
});

it("fails where a decoder could read secrets, and only warns if the operator allows it", async () => {
  const message = expect.stringContaining("can read the memory and environment of the server");
  expect(await checkIsolation(settings, () => tryIsolation(weak))).toMatchObject({
    status: "fail",
    message,
    fix: expect.any(String),
  });
  expect(await checkIsolation({ ...settings, ALLOW_WEAK_ISOLATION: true }, () => tryIsolation(weak))).toMatchObject({
    status: "warn",
  });
});

it("fails where no process starts", async () => {
  expect(await checkIsolation(settings, () => tryIsolation([]))).toMatchObject({
    status: "fail",
    message: expect.stringContaining("No process"),
  });
});
