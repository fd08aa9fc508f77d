import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createFilePart } from "./files.ts";
import {
  decodeInlineImage,
  findInlineImages,
  firstSource,
  imageField,
  parseSource,
  storedAssetReference,
} from "./image-fields.ts";
import { defineStream } from "./operation.ts";
import { parseInput } from "./parse.ts";

const RUN = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
const URL = "https://example.com/a.png";
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, ...Array(64).fill(0)]).toString("base64");
const file = createFilePart({ path: "/a", filename: "a.png", size_bytes: 1, sha256: "" });

const operation = defineStream({
  name: "tests.picture",
  summary: "A picture",
  http: { method: "POST", path: "/picture", bodies: ["json"] },
  input: z.object({ image: imageField("The image") }),
  output: z.unknown(),
  example: {},
  events: () => ({}),
});
const wordFor = (image: unknown) => {
  try {
    parseInput(operation, { image });
  } catch (thrown) {
    return (thrown as { details: { errors: { code: string }[] } }).details.errors.map(({ code }) => code).join();
  }
  return "taken";
};

describe("an image in an input", () => {
  it.each([
    ["an address", URL],
    ["a run", RUN],
    ["data", `data:image/png;base64,${PNG}`],
    ["raw base64", PNG],
    ["a file of a form", file],
    ["a file that is stored, as `inputs` of a run shows it", storedAssetReference(RUN)],
    ["an output of a run", { run_id: RUN, output_index: 3 }],
    ["a frame of a video", { run_id: RUN, frame: "last" }],
    ["an address of 2,048 characters", URL.padEnd(2048, "x")],
  ])("can be %s", (_, value) => expect(wordFor(value)).toBe("taken"));

  it.each<[string, unknown, string]>([
    ["words", "my picture", "ambiguous_reference"],
    ["another scheme", "ftp://example.com/a.png", "ambiguous_reference"],
    ["another kind of data", "data:image/gif;base64,R0lGODlh", "ambiguous_reference"],
    ["base64 of text", Buffer.from("just some text").toString("base64"), "ambiguous_reference"],
    ["a stored file without an ID", "asset:../../etc/passwd", "ambiguous_reference"],
    ["an output of something else", { run_id: "my run" }, "invalid_uuid"],
    ["an output before the first", { run_id: RUN, output_index: -1 }, "out_of_range"],
    ["a frame in between", { run_id: RUN, frame: "middle" }, "invalid_type"],
    ["an output without its run", { output_index: 1 }, "invalid_type"],
    ["an output with another field", { run_id: RUN, url: URL }, "unknown_field"],
    ["an address that is too long", URL.padEnd(2049, "x"), "too_long"],
    ["a number", 7, "invalid_type"],
    ["what only looks like a file", { ...file }, "invalid_type"],
    ["nothing", undefined, "required"],
  ])("cannot be %s", (_, value, word) => expect(wordFor(value)).toBe(word));
});

describe("the source of a job", () => {
  it("is an asset, a run or a URL", () => {
    expect([storedAssetReference(RUN), RUN, URL].map(parseSource)).toEqual([
      { asset: RUN },
      { run: RUN },
      { url: URL },
    ]);
  });

  it("is the file before the URL before the run", () => {
    expect(firstSource(RUN, URL, storedAssetReference(RUN))).toEqual({ asset: RUN });
    expect(firstSource(undefined, RUN, URL)).toEqual({ url: URL });
    expect(firstSource(RUN, undefined)).toEqual({ run: RUN });
    expect(firstSource(undefined, null)).toBeUndefined();
  });

  it("is an output of a run, or a frame of it", () => {
    expect(parseSource({ run_id: RUN, output_index: 2, frame: "first" })).toEqual({
      ...{ run: RUN, output: 2, frame: "first" },
    });
    expect(parseSource({ run_id: RUN, output_index: undefined, frame: undefined })).toEqual({ run: RUN });
    expect(firstSource({ run_id: RUN, output_index: 0 }, URL)).toEqual({ url: URL });
  });
});

describe("an inline image", () => {
  it("is found in every image field, and never in text or metadata", () => {
    const found = findInlineImages({
      images: [{ image_reference: PNG }, URL],
      mask: file,
      prompt: PNG,
      metadata: { a: PNG },
    });
    expect(found.map(({ path }) => path.join("/"))).toEqual(["images/0/image_reference", "mask"]);
    expect(decodeInlineImage(found[0]!.value)?.subarray(1, 4).toString()).toBe("PNG");
  });

  it("is not searched for in a deeply nested body", () => {
    const deep = JSON.parse(`${"[".repeat(200_000)}${"]".repeat(200_000)}`);
    expect(findInlineImages({ images: deep })).toEqual([]);
  });
});
