import { expect, it } from "vitest";
import { en } from "./en.ts";
import { toPseudoLocale } from "./text.ts";

it("lengthens plain words, lists and words with values in the pseudo-locale", () => {
  const words = toPseudoLocale(en);
  expect(words.navigation.make).toBe("⟦Make~~⟧");
  expect(words.make.runOn(2)).toContain("Run on 2 models");
  expect(words.make.runOn(2)).toMatch(/^⟦.*~⟧$/);
  expect(words.make.examples).toHaveLength(en.make.examples.length);
});

it("counts one without a plural", () => {
  expect(en.make.runOn(1)).toBe("Run on 1 model");
  expect(en.form.invalid(1)).toBe("1 field needs a change.");
  expect(en.form.invalid(2)).toBe("2 fields need a change.");
});
