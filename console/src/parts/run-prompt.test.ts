import { expect, it } from "vitest";
import { findPrompt } from "./run-prompt.ts";

it("finds the prompt of a run, also in the input of an imported model", () => {
  expect(findPrompt({ inputs: { prompt: "a fox" } })).toBe("a fox");
  expect(findPrompt({ inputs: { model: "fal:acme/draw", input: { prompt: "a boat", text: "other" } } })).toBe("a boat");
  expect(findPrompt({ inputs: { model: "fal:acme/voice", input: { text: "hello" } } })).toBe("hello");
  expect(findPrompt({ inputs: { model: "fal:acme/lips", input: { video_url: "asset:1" } } })).toBeNull();
  expect(findPrompt({ inputs: {} })).toBeNull();
});
