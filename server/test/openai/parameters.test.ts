// What a request of an OpenAI client gets for its parameters and for names of models: used, answered with a warning, or
// refused.
import OpenAI from "openai";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHttpCaller } from "../support/api-caller.ts";
import { type Installation, openSharedInstallation } from "../support/shared-installation.ts";

const PROMPT = "a red bicycle [sandbox:delay=0]";
const SIZE = "256x192";

let environment: Installation;
let client: OpenAI;
beforeAll(async () => {
  environment = await openSharedInstallation();
  client = new OpenAI({ baseURL: `${environment.url}/openai/v1`, apiKey: environment.key });
});
afterAll(() => environment?.stop());

const api = () => createHttpCaller(environment);
const send = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  api().send("POST", `/openai/v1${path}`, { body, headers });
const imageOf = (base64: string | undefined) => sharp(Buffer.from(base64 ?? "", "base64")).metadata();
const lastRun = async () => (await api().get("/runs?limit=1")).body.data[0];

describe("names that programs for OpenAI send by default", () => {
  it("[OAI-8] mean the nearest enabled model, and the client sees a warning", async () => {
    const made = await client.images.generate({ prompt: PROMPT, model: "dall-e-3", size: SIZE, quality: "standard" });
    expect(await lastRun()).toMatchObject({ model: "vendora" });
    expect(made).toMatchObject({ warnings: ["dall-e-3 is not enabled here: vendora made the image."] });
    expect(await client.models.retrieve("gpt-image-1")).toMatchObject({ id: "gpt-image-1" });
    const body = { prompt: PROMPT, model: "gpt-image-1", size: SIZE };
    const strict = await send("/images/generations", body, { prefer: "handling=strict" });
    expect([strict.status, strict.body.error.param]).toEqual([400, "model"]);
  });
});

describe("parameters", () => {
  it("[OAI-10] are used: size, number, format and user", async () => {
    const { data } = await client.images.generate({
      ...{ prompt: PROMPT, n: 5, size: "128x64", output_format: "jpeg", user: "customer-7" },
    });
    expect(data).toHaveLength(5);
    expect(await imageOf(data![4]!.b64_json)).toMatchObject({ width: 128, height: 64, format: "jpeg" });
    expect(await lastRun()).toMatchObject({ metadata: { user: "customer-7" } });
    const auto = await client.images.generate({ prompt: PROMPT, size: "auto", quality: "auto", background: "auto" });
    expect(auto.data).toHaveLength(1);
  });

  it.each([
    ["quality", "high"],
    ["background", "transparent"],
  ])("[OAI-10] that would change the image are refused, never paid for and ignored: %s", async (field, value) => {
    const before = await lastRun();
    const refused = await send("/images/generations", { prompt: PROMPT, size: SIZE, [field]: value });
    expect([refused.status, refused.body.error.param]).toEqual([400, field]);
    expect(await lastRun()).toMatchObject({ run_id: before.run_id });
  });

  it("[OAI-10] that have no effect are named in a header, and refused with strict handling", async () => {
    const body = { prompt: PROMPT, size: SIZE, style: "vivid" };
    const made = await send("/images/generations", body);
    expect([made.status, made.headers.get("gesso-unused-fields")]).toEqual([200, "style"]);
    expect(made.body.warnings).toEqual(["style has no effect here."]);
    const refused = await send("/images/generations", body, { prefer: "handling=strict" });
    expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([
      ...[400, "unsupported_parameter", "style"],
    ]);
    const strict = await send("/images/generations", { prompt: PROMPT, size: SIZE }, { prefer: "handling=strict" });
    expect(strict.status).toBe(200);
  });
});
