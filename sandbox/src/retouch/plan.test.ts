// What a prompt wants changed.
import { expect, test } from "vitest";
import { isIdle, readPlan } from "./plan.ts";

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
  expect(readPlan(prompt)).toMatchObject(expected);
});

test("a prompt that says nothing we know leaves the plan idle", () => {
  expect(isIdle(readPlan("with more whimsy"))).toBe(true);
  expect(isIdle(readPlan("make it brighter"))).toBe(false);
});
