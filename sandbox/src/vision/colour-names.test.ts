// Colours are called what people call them.
import { expect, test } from "vitest";
import { labOf } from "../drawing/colour.ts";
import { colourName } from "./colour-names.ts";

test.each([
  ["#ff0000", "red"],
  ["#8b0000", "red"],
  ["#ff8000", "orange"],
  ["#ffff00", "yellow"],
  ["#d9a520", "yellow"],
  ["#00a020", "green"],
  ["#006400", "green"],
  ["#20b2aa", "turquoise"],
  ["#0000ff", "blue"],
  ["#87ceeb", "blue"],
  ["#1c2f66", "blue"],
  ["#7d4fc9", "purple"],
  ["#ff00ff", "magenta"],
  ["#ffc0cb", "pink"],
  ["#ff69b4", "pink"],
  ["#7d5236", "brown"],
  ["#d9c3a0", "beige"],
  ["#ffffff", "white"],
  ["#808080", "grey"],
  ["#101010", "black"],
])("%s is %s", (hex, name) => {
  expect(colourName(labOf(hex))).toBe(name);
});
