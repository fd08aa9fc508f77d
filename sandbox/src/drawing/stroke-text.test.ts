// Text is legible for any input.
import { expect, test } from "vitest";
import { glyphOf } from "./glyphs.ts";
import { drawText, toDrawableText, widthOf, wrap } from "./stroke-text.ts";

test("every printable character has a glyph of its own", () => {
  const unknown = glyphOf("日");
  for (let code = 32; code < 127; code += 1) expect(glyphOf(String.fromCharCode(code))).not.toBe(unknown);
});

test("text is broken between words, and the rest becomes an ellipsis", () => {
  const space = widthOf("the quick brown", 14);
  expect(wrap("the quick brown fox", 14, space, 4)).toEqual(["the quick brown", "fox"]);
  const [first, last] = wrap("the quick brown fox jumps over the lazy dog", 14, space, 2);
  expect(first).toBe("the quick brown");
  expect(last).toMatch(/\.\.\.$/);
  expect(widthOf(last!, 14)).toBeLessThanOrEqual(space);
});

test("a word longer than a line is broken anywhere", () => {
  expect(wrap("aaaaaaaaaa", 14, widthOf("aaaa", 14), 4)).toEqual(["aaaa", "aaaa", "aa"]);
});

test("empty text has no lines", () => {
  expect(wrap("", 14, 100, 4)).toEqual([]);
});

test("accents and typographic marks are simplified", () => {
  expect(toDrawableText("  Crème “brûlée” –\n…  ")).toBe('Creme "brulee" - ...');
});

test("letters are strokes, not text", () => {
  expect(drawText("Hi", 0, 0, 14)).toMatch(/^<g transform=.*<path .*<path .*<\/g>$/);
});
