import type { Output } from "@gesso/client";
import { rgbaToThumbHash } from "thumbhash";
import { expect, it } from "vitest";
import { placeholderOf, tileUrlOf } from "./thumbnails.ts";

const output = { url: "http://127.0.0.1/files/a", media_type: "image/png" } as Output;
const thumbnails = { small: "http://127.0.0.1/files/s", large: "http://127.0.0.1/files/l" };

it("prefers the small copy and never loads a video as an image", () => {
  expect(tileUrlOf({ ...output, thumbnails })).toBe(thumbnails.large);
  expect(tileUrlOf(output)).toBe(output.url);
  expect(tileUrlOf({ ...output, media_type: "video/mp4" })).toBeUndefined();
});

it("draws the placeholder of a hash", () => {
  const red = Uint8Array.from({ length: 4 * 16 }, (_, index) => (index % 4 === 0 || index % 4 === 3 ? 255 : 0));
  const thumbhash = Buffer.from(rgbaToThumbHash(4, 4, red)).toString("base64");
  expect(placeholderOf({ thumbhash })).toMatch(/^data:image\/png;base64,/);
});

it("has no placeholder without a hash", () => {
  expect(placeholderOf({ thumbhash: null })).toBeUndefined();
  expect(placeholderOf({ thumbhash: "%" })).toBeUndefined();
});
