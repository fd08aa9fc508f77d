import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";
import { until } from "../../../test/support/until.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import { readProviderFailure } from "../call-provider.ts";
import { createModelProcess } from "./model-process.ts";

const program = fileURLToPath(new URL("../../../test/stubs/model-worker-stub.ts", import.meta.url));
const usual = { heapMegabytes: 64, mostMegabytes: 300, waitSeconds: 5, idleSeconds: 60 };
const image = Buffer.from("a picture");

const started: { end(): void }[] = [];
afterEach(() => {
  for (const each of started.splice(0)) each.end();
});

function start({ seconds = 10, ...limits }: Partial<typeof usual> & { seconds?: number } = {}) {
  const model = createModelProcess("isnet", { program, folder: "/models", limits: { ...usual, ...limits } });
  started.push(model);
  const ask = (options: JsonObject = {}) => model.perform({ image, mask: undefined, options }, seconds);
  const failing = (options: JsonObject) =>
    ask(options).then(
      () => expect.fail("it should have failed"),
      (thrown) => ({ code: thrown.code, details: thrown.details, ...readProviderFailure(thrown) }),
    );
  return { ...model, ask, failing };
}

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

it("starts at the first job, and serves the next job in the same process", async () => {
  const model = start();
  expect(model.pid()).toBeUndefined();
  expect(Buffer.from(await model.ask())).toEqual(image);
  const pid = model.pid();
  await model.ask();
  expect(model.pid()).toBe(pid);
});

it("passes no environment variables to the process, and runs it as an unprivileged user", async () => {
  const told = JSON.parse(Buffer.from(await start().ask({ tell: true })).toString());
  expect(told.argv).toEqual(["isnet", "/models"]);
  const ofShell = ["PWD", "OLDPWD", "SHLVL", "_"];
  expect(Object.keys(told.env).filter((name) => !ofShell.includes(name))).toEqual(["PATH"]);
  expect(told.uid).not.toBe(0);
});

it("fails only the job that crashed the process, and runs the next one in a new process", async () => {
  const model = start();
  await model.ask();
  const before = model.pid();
  expect(await model.failing({ crash: true })).toMatchObject({ code: "provider_error", kind: "failed" });
  expect(Buffer.from(await model.ask())).toEqual(image);
  expect(model.pid()).not.toBe(before);
});

it("kills a job that exceeds its time limit", async () => {
  const model = start({ seconds: 1 });
  await model.ask();
  const pid = model.pid()!;
  expect(await model.failing({ hang: true })).toMatchObject({ code: "provider_timeout", kind: "failed" });
  await expect.poll(() => isAlive(pid)).toBe(false);
});

it("kills a job that exceeds its memory limit, native memory included", async () => {
  const failed = await start().failing({ eat: 400 });
  expect(failed).toMatchObject({ code: "provider_error", kind: "failed", cause: "needed more than 300 MB" });
});

it("reports the model's complaint about the input, and only logs internal errors", async () => {
  const model = start();
  expect(await model.failing({ refuse: "too dark" })).toMatchObject({
    code: "provider_rejected_input",
    kind: "refused",
    details: { reason: "too dark" },
  });
  expect(await model.failing({ refuse: "hole_too_large" })).toMatchObject({
    code: "provider_rejected_input",
    kind: "over_limit",
    details: { reason: "hole_too_large" },
  });
  expect(await model.failing({ fail: true })).toMatchObject({
    code: "provider_error",
    details: {},
    cause: "it did not work",
  });
});

it("runs one job at a time, in order", async () => {
  const model = start();
  await model.ask();
  const ends: number[] = [];
  await Promise.all(
    [120, 60, 0].map((milliseconds) => model.ask({ milliseconds }).then(() => ends.push(milliseconds))),
  );
  expect(ends).toEqual([120, 60, 0]);
});

it("refuses a job that would wait too long as busy, and continues with the next", async () => {
  const model = start({ waitSeconds: 0.2 });
  const first = model.ask({ milliseconds: 1500 });
  expect(await model.failing({})).toMatchObject({ kind: "busy", retryAfterSeconds: 0.2 });
  await first;
  expect(Buffer.from(await model.ask())).toEqual(image);
});

it("ends after an idle time", async () => {
  const model = start({ idleSeconds: 0.2 });
  await model.ask();
  const pid = model.pid()!;
  await until(() => !isAlive(pid));
  expect(Buffer.from(await model.ask())).toEqual(image);
});
