import { expect, it } from "vitest";
import { detectImageProtocol } from "../runs/preview.ts";
import { formatAmount, toHarmlessLines, toHarmlessText, toJsonLine } from "./terminal.ts";

it("shows control characters and directions of text instead of sending them to the terminal", () => {
  expect(toHarmlessText("a\u001b[2Jb\u009bc\u0007\u202ed")).toBe("a\\u001b[2Jb\\u009bc\\u0007\\u202ed");
  expect(toHarmlessText("two\nlines")).toBe("two lines");
  expect(toHarmlessLines("two\nlines\u001b")).toBe("two\nlines\\u001b");
  expect(toHarmlessText("Ein Bär, 熊, 🐻")).toBe("Ein Bär, 熊, 🐻");
});

it("escapes control characters in JSON without changing what it says", () => {
  const value = { prompt: "\u001b \u009b31m \u202e \u2066" };
  const line = toJsonLine(value);
  expect(line).toBe('{"prompt":"\\u001b \\u009b31m \\u202e \\u2066"}');
  expect(JSON.parse(line)).toEqual(value);
});

it("detects terminals that show images, but not inside a multiplexer", () => {
  expect(detectImageProtocol({ KITTY_WINDOW_ID: "1", TERM: "xterm-kitty" })).toBe("kitty");
  expect(detectImageProtocol({ TERM_PROGRAM: "ghostty" })).toBe("kitty");
  expect(detectImageProtocol({ TERM_PROGRAM: "iTerm.app" })).toBe("iterm2");
  expect(detectImageProtocol({ TERM_PROGRAM: "WezTerm" })).toBe("iterm2");
  expect(detectImageProtocol({ KITTY_WINDOW_ID: "1", TMUX: "/tmp/x" })).toBeUndefined();
  expect(detectImageProtocol({ TERM: "xterm-256color" })).toBeUndefined();
});

it("writes amounts in cents, and below a dollar with three significant digits", () => {
  const amounts = [0, 12, 1.005, 0.5, 0.25, 0.02, 0.0262, 0.0034, 0.000012, 0.12345, 0.9999, -0.0262];
  expect(amounts.map(formatAmount)).toEqual([
    ...["$0.00", "$12.00", "$1.00", "$0.50", "$0.25", "$0.02", "$0.0262", "$0.0034", "$0.000012", "$0.123", "$1.00"],
    "$-0.0262",
  ]);
  for (let amount = 0.0001; amount < 1; amount *= 1.017)
    expect(Math.abs(Number(formatAmount(amount).slice(1)) / amount - 1)).toBeLessThan(0.01);
});
