// Directives are parsed from prompts, and invalid ones are reported.
import { expect, test } from "vitest";
import { parseDirectives } from "./behaviour.ts";

test("a prompt without directives is unchanged", () => {
  expect(parseDirectives(" a [red] hill ")).toEqual({ text: " a [red] hill ", behaviour: {} });
});

test("directives are removed anywhere in the prompt, and later ones win", () => {
  expect(parseDirectives("[sandbox:delay=2, fail] a hill [sandbox:delay=0.5,busy=3] at dawn")).toEqual({
    text: "a hill at dawn",
    behaviour: { delay: 0.5, fail: true, busy: 3 },
  });
});

test("a flag may have an explicit value", () => {
  expect(parseDirectives("[sandbox:fail=false,never=true]")).toEqual({
    text: "",
    behaviour: { fail: false, never: true },
  });
});

test.each(["[sandbox:hurry]", "[sandbox:delay]", "[sandbox:delay=]", "[sandbox:busy=1.5]", "[sandbox:fail=3]"])(
  "%s is reported as invalid",
  (prompt) => {
    expect(parseDirectives(prompt)).toHaveProperty("complaint");
  },
);
