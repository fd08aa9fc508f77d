import { describe, expect, it } from "vitest";
import { detectMediaType, extensionOf, KNOWN_EXTENSIONS } from "./detect-media-type.ts";

const box = (brand: string) => Buffer.concat([Buffer.from([0, 0, 0, 20]), Buffer.from(`ftyp${brand}\0\0\0\0${brand}`)]);
const zip = Buffer.concat([
  Buffer.from("504b030414000000000000000000000000000000000000000000", "hex"),
  Buffer.from([5, 0, 0, 0]),
  Buffer.from("a.txt"),
]);

describe("the media type of a file", () => {
  it.each<[string, Uint8Array, string, string]>([
    ["a PNG", Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), "x.jpg", "image/png"],
    ["an MP4", box("isom"), "", "video/mp4"],
    ["a QuickTime film", box("qt  "), "", "video/quicktime"],
    ["an AVIF", box("avif"), "", "image/avif"],
    ["sound in an MP4", box("M4A "), "", "audio/mp4"],
    ["a GIF", Buffer.from("GIF89a\u0001\0\u0001\0"), "", "image/gif"],
    ["a WebM", Buffer.from("1a45dfa39f4286810142f7810142f2810442f381084282847765626d", "hex"), "", "video/webm"],
    ["a WAV", Buffer.from("RIFF\u0010\0\0\0WAVEfmt "), "x.webp", "audio/wav"],
    ["a FLAC", Buffer.from("664c614300000022", "hex"), "", "audio/flac"],
    ["a scene", Buffer.concat([Buffer.from("glTF"), Buffer.from([2, 0, 0, 0, 100, 0, 0, 0])]), "", "model/gltf-binary"],
    ["a scene as JSON", Buffer.from('{"asset":{"version":"2.0"}}'), "/a/b.gltf", "model/gltf+json"],
    ["an archive", zip, "data.zip", "application/zip"],
    ["a scene in an archive", zip, "chair.usdz", "model/vnd.usdz+zip"],
    ["a mesh as text", Buffer.from("v 0 0 0\nf 1 1 1\n"), "mesh.obj", "model/obj"],
    ["text", Buffer.from("Ein schöner Tag"), "", "text/plain"],
    ["JSON", Buffer.from('{"a":1}'), "x.json", "application/json"],
    ["a drawing", Buffer.from('<?xml version="1.0"?>\n<!-- x --><svg width="1"/>'), "", "image/svg+xml"],
    ["a drawing without a declaration", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"), "", "image/svg+xml"],
    ["a page", Buffer.from("<!doctype html><script>alert(1)</script>"), "x.html", "text/plain"],
    ["a page that calls itself a mesh", Buffer.from("<html>"), "x.obj", "model/obj"],
    ["bytes", Buffer.from([1, 2, 3, 0, 255]), "", "application/octet-stream"],
    ["nothing", Buffer.alloc(0), "", "application/octet-stream"],
  ])("is that of its first bytes: %s", async (_, bytes, name, mediaType) => {
    expect(await detectMediaType(bytes, name)).toBe(mediaType);
    expect(KNOWN_EXTENSIONS.has(extensionOf(mediaType))).toBe(true);
  });

  it("is never one that a browser would execute, whatever the name", async () => {
    for (const name of ["x.html", "x.htm", "x.xhtml", "x.js", "x.mjs", "x.css", "x.wasm", "x.xml"])
      expect(await detectMediaType(Buffer.from("<html><script>"), name)).toBe("text/plain");
  });

  it("does not fail on the beginning of a file, wherever it ends", async () => {
    for (const whole of [
      box("isom"),
      box("qt  "),
      zip,
      Buffer.from("ID3\u0004\0\0\0\0\0\0"),
      Buffer.from("OggS\0\u0002"),
    ])
      for (let end = 0; end < whole.byteLength; end++)
        expect(await detectMediaType(whole.subarray(0, end))).toMatch(/^[a-z]+\/[a-z0-9.+-]+$/);
  });
});

it("the extension of an unknown type is bin", () => {
  expect(extensionOf("application/x-unheard-of")).toBe("bin");
  expect(extensionOf("constructor")).toBe("bin");
});
