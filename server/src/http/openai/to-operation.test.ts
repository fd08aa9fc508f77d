import { describe, expect, it } from "vitest";
import { createSeededRandom } from "../../../test/support/seeded-random.ts";
import { createFilePart } from "../../contract/files.ts";
import { parseInput } from "../../contract/parse.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import { Fault } from "../../faults/faults.ts";
import { providers } from "../../providers/all.ts";
import { contentOf, parseClientBody } from "./client-body.ts";
import { createModelNames, type ModelNames } from "./model-names.ts";
import { type Endpoint, toOperation } from "./to-operation.ts";

const names: ModelNames = createModelNames(providers.map((provider) => ({ provider, env: {} })));
const file = (filename: string, sha256 = filename) => createFilePart({ path: "/t", filename, size_bytes: 1, sha256 });

const translate = (endpoint: Endpoint, raw: JsonObject, body: "json" | "form" = "json") => {
  const { operation, input, unused } = toOperation(endpoint, parseClientBody(raw, body), names);
  // What is translated must be valid for its operation.
  parseInput(operation, input, "json");
  return { operation: operation.name, input, unused };
};
const errorsOf = (act: () => unknown) => {
  try {
    act();
    return [];
  } catch (thrown) {
    return (thrown as { details: { errors: { path: string }[] } }).details.errors.map(({ path }) => path);
  }
};

describe("a generation", () => {
  it("uses Gesso's default model and needs a prompt only", () => {
    const { operation, input, unused } = translate("generations", { prompt: "a bicycle" });
    expect([operation, input, unused]).toEqual([
      "images.generate",
      { prompt: "a bicycle", model_type: "flux-dev" },
      [],
    ]);
  });

  it.each([
    ["flux-dev", "1536x1024", { width: 1536, height: 1024 }],
    ["flux-dev", "auto", {}],
    ["nanobanana", "1536x1024", { aspect_ratio: "3:2" }],
    ["nanobanana", "1792x1024", { aspect_ratio: "7:4" }],
    ["nanobanana", "1000x1001", { aspect_ratio: "1:1" }],
    ["flux-kontext-max", "1792x1024", { aspect_ratio: "16:9" }],
    ["vendorb-imagen4", "auto", { aspect_ratio: "1:1" }],
    ["vendorb-imagen4", "1024x1536", { aspect_ratio: "2:3" }],
    ["qwen-image-edit", "auto", { width: 1024, height: 1024 }],
  ])("of %s with the size %s has %o", (model, size, fields) => {
    const { input, unused } = translate("generations", { prompt: "p", model, size });
    expect(input).toEqual({ prompt: "p", model_type: model, ...fields });
    expect(unused).toEqual([]);
  });

  it("of more than 4 images is one run", () => {
    expect(translate("generations", { prompt: "p", n: 4 })).toMatchObject({
      operation: "images.generate",
      input: { batch_size: 4 },
    });
    expect(translate("generations", { prompt: "p", n: 10 })).toMatchObject({
      operation: "images.generate.openai",
      input: { batch_size: 10 },
    });
  });

  it("names the fields that have no effect", () => {
    const raw = { prompt: "p", partial_images: 2, style: "vivid", x: 1 };
    expect(translate("generations", raw).unused).toEqual(["partial_images", "style", "x"]);
    const neutral = { prompt: "p", quality: "auto", background: "opaque", partial_images: 0, style: null };
    expect(translate("generations", neutral).unused).toEqual([]);
  });

  it.each(["generations", "edits", "variations"] as const)(
    "with a quality or a transparent background is refused, not paid for as another image: %s",
    (endpoint) => {
      const raw = { prompt: "p", image: "https://example.com/a.png", quality: "high", background: "transparent" };
      expect(errorsOf(() => translate(endpoint, raw))).toEqual(["/quality", "/background"]);
      expect(errorsOf(() => translate(endpoint, { ...raw, quality: "standard", background: "opaque" }))).toEqual([]);
    },
  );

  it("stores the user as metadata and passes Gesso's own fields on", () => {
    const raw = { prompt: "p", user: "u-1", safety_identifier: "s-1", seed: 7, max_cost: 1, metadata: { a: 1 } };
    expect(translate("generations", raw).input).toEqual({
      ...{ prompt: "p", model_type: "flux-dev", seed: 7, max_cost: 1 },
      metadata: { a: 1, user: "u-1", safety_identifier: "s-1" },
    });
  });

  it.each([
    [{}, ["/prompt"]],
    [{ prompt: "p", n: 11, size: "big" }, ["/n", "/size"]],
    [{ prompt: "p", size: "4096x4096" }, ["/size"]],
    [{ prompt: "p", output_format: "gif" }, ["/output_format"]],
    [{ prompt: "p", stream: "yes" }, ["/stream"]],
    [{ prompt: "p", user: "u", metadata: "text" }, ["/metadata"]],
  ])("with %o is refused at %o", (raw, paths) => {
    expect(errorsOf(() => translate("generations", raw))).toEqual(paths);
  });
});

describe("an edit", () => {
  it("takes images by each of the names that clients use, in order", () => {
    const [a, b] = [file("a"), file("b")];
    expect(translate("edits", { prompt: "p", image: a }, "form").input).toMatchObject({ images: [a] });
    expect(translate("edits", { prompt: "p", "image[]": [a, b], n: "2" }, "form").input).toEqual({
      ...{ prompt: "p", model_type: "edit-default", images: [a, b], n: 2 },
    });
    expect(translate("edits", { prompt: "p", "image[0]": a, "image[1]": b }, "form").input.images).toEqual([a, b]);
    const url = "https://example.com/a.png";
    expect(translate("edits", { prompt: "p", images: [{ image_url: url }] }).input.images).toEqual([url]);
  });

  it("turns the size into an aspect ratio, and names it as unused with a mask", () => {
    const raw = { prompt: "p", image: file("a"), size: "1536x1024" };
    expect(translate("edits", raw, "form")).toMatchObject({ input: { aspect_ratio: "3:2" }, unused: [] });
    const masked = translate("edits", { ...raw, mask: file("m") }, "form");
    expect(masked.input).not.toHaveProperty("aspect_ratio");
    expect(masked.unused).toEqual(["size"]);
    expect(translate("edits", { ...raw, size: "auto", mask: file("m") }, "form").unused).toEqual([]);
  });

  it("is refused without an image, with 17 images, and with the ID of a file", () => {
    expect(errorsOf(() => translate("edits", { prompt: "p" }))).toEqual(["/image"]);
    const many = Array.from({ length: 17 }, (_, index) => file(String(index)));
    expect(errorsOf(() => translate("edits", { prompt: "p", "image[]": many }, "form"))).toEqual(["/image"]);
    expect(errorsOf(() => translate("edits", { prompt: "p", images: [{ file_id: "f" }] }))).toEqual(["/image"]);
  });
});

describe("a variation", () => {
  it("makes one image unless the client asks for more", () => {
    const image = file("a");
    expect(translate("variations", { image, user: "u" }, "form")).toEqual({
      operation: "images.vary",
      input: { image_url: image, n: 1, metadata: { user: "u" } },
      unused: [],
    });
    expect(translate("variations", { image, n: "4", size: "512x512" }, "form")).toMatchObject({
      input: { n: 4 },
      unused: ["size"],
    });
    expect(errorsOf(() => translate("variations", { image, n: "5" }, "form"))).toEqual(["/n"]);
  });
});

it("any body is either valid for its operation or refused with a Fault", () => {
  const random = createSeededRandom(7);
  const pick = <T>(items: readonly T[]): T => items[random(items.length)]!;
  const fields = [
    "prompt",
    "model",
    "n",
    "size",
    "quality",
    "background",
    "output_format",
    "response_format",
    "stream",
  ];
  const more = [
    "image",
    "image[]",
    "images",
    "mask",
    "user",
    "metadata",
    "seed",
    "max_cost",
    "partial_images",
    "other",
  ];
  const values = [null, true, 0, 1, 3.5, -1, 1e21, "", "1", "auto", "1x1", "1024x1024", "99999x1", "00x00", "flux-dev"];
  const nested = [[], [[]], {}, { image_url: "https://example.com/a.png" }, [{ image_url: 7 }], file("f"), [file("f")]];
  let accepted = 0;
  for (let round = 0; round < 5000; round++) {
    const chosen = Array.from({ length: 1 + random(3) }, () => [
      pick([...fields, ...more]),
      pick([...values, ...nested]),
    ]);
    const raw = { ...(random(5) > 0 && { prompt: "p", image: file("a") }), ...Object.fromEntries(chosen) };
    try {
      translate(pick(["generations", "edits", "variations"]), raw, pick(["json", "form"]));
      accepted++;
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(Fault);
    }
  }
  expect(accepted).toBeGreaterThan(100);
});

it("the content of a request has the digests of its files, not their names", () => {
  const long = "x".repeat(2000);
  expect(contentOf("edits", { "image[]": [file("first", "digest")], prompt: "p" })).toEqual({
    endpoint: "edits",
    body: { "image[]": [{ sha256: "digest" }], prompt: "p" },
  });
  expect(contentOf("edits", { prompt: long })).toEqual({
    endpoint: "edits",
    body: { prompt: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
  });
});
