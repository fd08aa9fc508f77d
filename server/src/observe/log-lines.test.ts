import { expect, it } from "vitest";
import { createLogger } from "./log.ts";

it("writes exactly one line for each entry, whatever characters its texts have", () => {
  const written: string[] = [];
  const log = createLogger({ LOG_LEVEL: "info" }, "api", { write: (text) => void written.push(text) });
  const texts = [
    'a\r\n{"level":50,"msg":"forged"}\n',
    "\u0000\u0007\u001b[31mred\u001b[0m\u0008",
    "\u2028\u2029\u0085",
    "\u202eabc",
    '"},{"level":50',
  ];
  for (const text of texts) {
    log.info({ text, [text]: 1, err: Object.assign(new Error(text), { code: text }) }, text);
  }
  const lines = written.join("").split(/[\n\r]/);
  expect([written.length, lines.length, lines.at(-1)]).toEqual([texts.length, texts.length + 1, ""]);
  for (const [index, text] of texts.entries()) {
    expect(JSON.parse(lines[index]!)).toMatchObject({ level: 30, role: "api", text, msg: text });
    // Escaped, so that no terminal executes them.
    expect([...lines[index]!].filter((character) => character < " ")).toEqual([]);
  }
});
