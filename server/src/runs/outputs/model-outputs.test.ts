import { describe, expect, it } from "vitest";
import type { MediaField } from "../../contract/pinned-model.ts";
import { findModelOutputs } from "./model-outputs.ts";

const ORIGINS = ["https://fal.media", "https://*.fal.media"];
const VIDEO: MediaField[] = [{ pointer: "/video/url", kind: "video" }];
const find = (raw: unknown, outputs = VIDEO) => findModelOutputs({ outputs }, raw, ORIGINS);
const filesOf = (raw: unknown, outputs = VIDEO) => find(raw, outputs).outputs;

describe("the result of an imported model", () => {
  it("has the files that its schema announces, by the rules for URLs of callers if they are elsewhere", () => {
    expect(filesOf({ video: { url: "https://v3.fal.media/a.mp4" } })).toEqual([
      { output: { url: "https://v3.fal.media/a.mp4" }, kind: "video" },
    ]);
    expect(filesOf({ video: { url: "https://cdn.example.com/a.mp4" } })).toEqual([
      { output: { url: "https://cdn.example.com/a.mp4", isForeign: true }, kind: "video" },
    ]);
  });

  it("has files that only the origins of its provider tell, and no others", () => {
    const raw = {
      video: { url: "https://fal.media/a.mp4" },
      more: [{ link: "https://v3.fal.media/b.png" }],
      page: "https://example.com/about",
      strange: ["https://fal.media.example.com/x", "http://fal.media/x", "https://fal.media@example.com/x"],
    };
    expect(filesOf(raw).map(({ output, kind }) => [output, kind])).toEqual([
      [{ url: "https://fal.media/a.mp4" }, "video"],
      [{ url: "https://v3.fal.media/b.png" }, "file"],
    ]);
  });

  it("can contain a file as base64", () => {
    const [file] = filesOf({ video: { url: `data:video/mp4;base64,${Buffer.from("film").toString("base64")}` } });
    expect(file!.output).toEqual({ bytes: Buffer.from("film"), media_type: "video/mp4" });
  });

  it("has plain base64 as a file where one is announced, of any kind, and nowhere else", () => {
    const bytes = Buffer.alloc(90, 1);
    const audio: MediaField[] = [{ pointer: "/audio", kind: "audio" }];
    const raw = { audio: bytes.toString("base64"), other: bytes.toString("base64") };
    expect(filesOf(raw, audio)).toEqual([{ output: { bytes, media_type: "application/octet-stream" }, kind: "file" }]);
    expect(find(raw, audio).fillIn(["a-1"]).other).toBe(raw.other);
  });

  it("has a large data URL as a file, also if none was announced, and a small one as text", () => {
    const dataUrl = (size: number) => `data:image/png;base64,${Buffer.alloc(size, 7).toString("base64")}`;
    const raw = { preview: dataUrl(60_000), icon: dataUrl(100), text: "a".repeat(80_000) };
    expect(filesOf(raw, [])).toEqual([
      { output: { bytes: Buffer.alloc(60_000, 7), media_type: "image/png" }, kind: "file" },
    ]);
    expect(find(raw, []).fillIn(["a-1"])).toMatchObject({ icon: raw.icon, text: raw.text });
    expect(find(raw, []).fillIn(["a-1"]).preview).not.toContain("base64");
  });

  it("is invalid without any file if one was announced, and text if none was", () => {
    const invalid = expect.objectContaining({ code: "provider_output_invalid" });
    expect(() => find({ seed: 1 })).toThrow(invalid);
    expect(() => find({ video: { url: "no file" } })).toThrow(invalid);
    expect(() => find(null)).toThrow(invalid);
    expect(find({ answer: "yes" }, []).fillIn([])).toEqual({ answer: "yes" });
  });

  it("keeps references to the stored files in the places of the URLs", () => {
    const found = find({ video: { url: "https://fal.media/a.mp4", size: 7 }, seed: 1 });
    expect(found.fillIn(["0199"])).toEqual({ video: { url: "asset:0199", size: 7 }, seed: 1 });
  });

  it("that is no object becomes one", () => {
    const [list, text]: MediaField[] = [
      { pointer: "/*", kind: "image" },
      { pointer: "", kind: "image" },
    ];
    const urls = ["https://fal.media/a.png", "https://fal.media/b.png"];
    expect(find(urls, [list!]).fillIn(["1", "2"])).toEqual({ output: ["asset:1", "asset:2"] });
    expect(find(urls[0], [text!]).fillIn(["1"])).toEqual({ output: "asset:1" });
    expect(find(["a ", "story"], []).fillIn([])).toEqual({ output: ["a ", "story"] });
  });

  it("with more files than anyone can use is invalid", () => {
    const images = Array.from({ length: 201 }, (_, index) => `https://fal.media/${index}.png`);
    expect(() => find({ images }, [{ pointer: "/images/*", kind: "image" }])).toThrow();
  });
});
