// Directives are found in prompts, and mistakes in them are told.
import { expect, test } from "vitest";
import { parseDirectives } from "./behaviour.ts";

test("a prompt without directives is left as it is", () => {
  expect(parseDirectives(" a [red] hill ")).toEqual({ text: " a [red] hill ", behaviour: {} });
});

test("directives are taken out wherever they stand, and later ones win", () => {
  expect(parseDirectives("[sandbox:delay=2, fail] a hill [sandbox:delay=0.5,busy=3] at dawn")).toEqual({
    text: "a hill at dawn",
    behaviour: { delay: 0.5, fail: true, busy: 3 },
  });
});

test("a flag may be written out", () => {
  expect(parseDirectives("[sandbox:fail=false,never=true]")).toEqual({
    text: "",
    behaviour: { fail: false, never: true },
  });
});

test.each(["[sandbox:hurry]", "[sandbox:delay]", "[sandbox:delay=]", "[sandbox:busy=1.5]", "[sandbox:fail=3]"])(
  "%s is a complaint",
  (prompt) => {
    expect(parseDirectives(prompt)).toHaveProperty("complaint");
  },
);
