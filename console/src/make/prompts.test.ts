import { expect, it } from "vitest";
import { nextPrompt, promptsOf } from "./prompts.ts";

it("lists each prompt once, newest first", () => {
  const runs = [{ inputs: { prompt: "b" } }, { inputs: {} }, { inputs: { prompt: "a" } }, { inputs: { prompt: "b" } }];
  expect(promptsOf(runs)).toEqual(["b", "a"]);
});

it("moves through the prompts and stays at the ends", () => {
  expect(nextPrompt(["b", "a"], undefined, 1)).toBe("b");
  expect(nextPrompt(["b", "a"], "b", 1)).toBe("a");
  expect(nextPrompt(["b", "a"], "a", 1)).toBeUndefined();
  expect(nextPrompt(["b", "a"], "b", -1)).toBeUndefined();
});
