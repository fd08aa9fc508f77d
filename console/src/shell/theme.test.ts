import { expect, it } from "vitest";
import { nextTheme, parseTheme } from "./theme.ts";

it("follows the system unless a known theme is stored", () => {
  expect(parseTheme(null)).toBe("system");
  expect(parseTheme("sepia")).toBe("system");
  expect(parseTheme("dark")).toBe("dark");
});

it("switches through all themes and back", () => {
  expect(nextTheme("system")).toBe("light");
  expect(nextTheme("light")).toBe("dark");
  expect(nextTheme("dark")).toBe("system");
});
