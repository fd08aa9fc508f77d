// Parsing of edit prompts.
import { expect, test } from "vitest";
import { isEmptyPlan, parseEditPrompt } from "./edit-plan.ts";

test.each([
  ["make it snow", { tones: ["cold"], weather: "snow" }],
  ["black and white", { tones: ["grey"], colours: [] }],
  [
    "turn the red circle to blue",
    { recolour: { target: "red circle", colour: "#2f6fd6" }, colours: [], additions: [] },
  ],
  ["make it green", { recolour: undefined, colours: ["#3f9b57"] }],
  ["remove the ball and add a moon", { removal: "the ball", additions: [{ what: "moon" }] }],
  ["add a red balloon", { additions: [{ what: "balloon", colour: "#d63a3a" }], colours: [] }],
  ["add a woman in a blue coat", { additions: [{ what: "person", colour: "#2f6fd6" }], colours: [] }],
  ["replace the background with a desert", { background: "new", scene: "desert" }],
  ["blur the background", { background: "toned", tones: ["blur"] }],
  ['write "Hello" on it', { text: "Hello" }],
  ["in the colours of the second picture", { isStyle: true }],
])("%s", (prompt, expected) => {
  expect(parseEditPrompt(prompt)).toMatchObject(expected);
});

test("a prompt without known keywords gives an empty plan", () => {
  expect(isEmptyPlan(parseEditPrompt("with more whimsy"))).toBe(true);
  expect(isEmptyPlan(parseEditPrompt("make it brighter"))).toBe(false);
});
