// What a prompt asks to be found.
import { expect, test } from "vitest";
import { parseObjectQuery } from "./object-query.ts";

test.each([
  ["the red circle on the left", { colours: ["red"], shape: "circle", across: "left", name: "red circle" }],
  ["the largest blue shape", { colours: ["blue"], size: "largest", name: "largest blue shape" }],
  ["Background", { kind: "background" }],
  ["the sky at the top", { kind: "sky", down: "top" }],
  ["the boat on the water", { kind: undefined, name: "boat" }],
  ["the woman in red", { colours: ["red"], name: "woman" }],
  ["the ball in the blue box", { colours: [], shape: "circle", name: "ball" }],
  ["two violet squares", { colours: ["purple", "magenta"], shape: "square" }],
  ["", { colours: [], name: "object" }],
])("%s", (prompt, expected) => {
  expect(parseObjectQuery(prompt)).toMatchObject(expected);
});
