import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { attachFiles, parseModelValue, readInputDocument, readNamedValues } from "./model-input.ts";
import { buildModelCommand } from "./run-model.ts";

const folder = mkdtempSync(join(tmpdir(), "gesso-input-"));
const wave = join(folder, "voice.wav");
writeFileSync(wave, "RIFF");
const DATA_URL = `data:audio/wav;base64,${Buffer.from("RIFF").toString("base64")}`;
const RUN = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";

const text = { type: "string" };
const MODEL = {
  ...{ name: "boat", model: "fal:acme/boat", provider: "fal", title: null, category: null, media: [] },
  ...{ price: null, schema_hash: "0", refused_at: null, version: null, output: {}, order: [], example: {} },
  input: {
    type: "object",
    properties: {
      prompt: text,
      duration: { type: "integer", enum: [4, 8] },
      tags: { type: "array", items: text },
      size: { anyOf: [{ type: "object" }, { type: "string", enum: ["square"] }] },
      audio_url: text,
      frame: { type: "object", properties: { url: text } },
      timeout: { type: "number" },
      no_watermark: { type: "boolean" },
      "odd name": text,
      imageUrl: text,
      image_url: text,
    },
  },
  files: {
    input: [
      { pointer: "/audio_url", kind: "audio" },
      { pointer: "/frame/url", kind: "image" },
    ],
    output: [],
  },
};

it("reads named values by the types of the fields", () => {
  const given = ["prompt=a=b", "duration=4", "tags=x", "tags=y", 'size={"width":2}', "frame=https://a.example/b.png"];
  expect(readNamedValues(MODEL, given)).toEqual({
    prompt: "a=b",
    duration: 4,
    tags: ["x", "y"],
    size: { width: 2 },
    frame: { url: "https://a.example/b.png" },
  });
  expect(readNamedValues(MODEL, ['tags=["x","y"]'])).toEqual({ tags: ["x", "y"] });
  expect(() => readNamedValues(MODEL, ["duration=5"])).toThrow("duration: Must be one of 4, 8.");
  expect(() => readNamedValues(MODEL, ["fps=5"])).toThrow(/boat has no field fps. Its fields: prompt, /);
  expect(() => readNamedValues(MODEL, ["prompt"])).toThrow("Write a field as name=value, not prompt.");
});

it("keeps a file as it was written until the places of files are known", () => {
  expect(parseModelValue({ name: "frame", type: "image", file: "image", isUrlObject: true }, "a.png")).toEqual({
    url: "a.png",
  });
  expect(parseModelValue({ name: "frame", type: "image", file: "image", isUrlObject: true }, '{"url":"a"}')).toEqual({
    url: "a",
  });
});

it("sends local files as data URLs, and URLs and runs as they are", async () => {
  const at = (...pointers: string[]) => pointers.map((pointer) => ({ pointer, kind: "file" as const }));
  const input = { audio_url: wave, note: wave, elements: [{ urls: [wave, RUN, "https://a.example/b.png"] }, {}] };
  expect(await attachFiles(input, at("/audio_url", "/elements/*/urls/*"))).toEqual({
    audio_url: DATA_URL,
    note: wave,
    elements: [{ urls: [DATA_URL, { run_id: RUN }, "https://a.example/b.png"] }, {}],
  });
  const kept = { a: `${RUN}#1`, b: { run_id: RUN }, c: "data:text/plain;base64,YQ==", d: "A".repeat(2000) };
  expect(await attachFiles(kept, at("/a", "/b", "/c", "/d", "/e"))).toEqual({
    ...kept,
    a: { run_id: RUN, output_index: 1 },
  });
  await expect(attachFiles({ a: "none.png" }, at("/a"))).rejects.toThrow(/There is no file none.png/);
});

it("reads the input from a file or from the command line", () => {
  const path = join(folder, "input.json");
  writeFileSync(path, '{"prompt":"a"}');
  expect(readInputDocument(path)).toEqual({ prompt: "a" });
  expect(readInputDocument('{"prompt":"b"}')).toEqual({ prompt: "b" });
  expect(() => readInputDocument("none.json")).toThrow(/--input takes a file with JSON/);
  writeFileSync(path, "[1]");
  expect(() => readInputDocument(path)).toThrow("--input takes a JSON object with the fields of the model.");
});

it("gives every field a flag that no other flag has, and names the fields without one", () => {
  const command = buildModelCommand(MODEL);
  const flags = command.options.map(({ long }) => long);
  expect(new Set(flags).size).toBe(flags.length);
  for (const flag of ["--prompt", "--set-timeout", "--timeout", "--set-no-watermark", "--no-wait", "--image-url"])
    expect(flags).toContain(flag);
  let help = "";
  command.configureOutput({ writeOut: (part) => (help += part) }).outputHelp();
  expect(help).toContain("Fields without a flag: odd name, image_url. Write them with -i or --input.");
});
