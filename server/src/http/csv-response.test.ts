import { expect, it } from "vitest";
import { renderCsv } from "./csv-response.ts";

it("prints a line of names and a line for each row, nothing for what is not there", () => {
  expect(renderCsv([{ day: "2030-01-01", key_id: null, amount: 0.5 }])).toBe(
    "day,key_id,amount\r\n2030-01-01,,0.5\r\n",
  );
});

it("quotes what would tear a row apart", () => {
  expect(renderCsv([{ name: 'a "b", c\nd' }])).toBe('name\r\n"a ""b"", c\nd"\r\n');
});

it("lets no text become a formula, and leaves numbers as they are", () => {
  const rows = ["=1+1", "+1", "-1", "@x", "\tx", -1].map((cell) => ({ cell }));
  expect(renderCsv(rows)).toBe("cell\r\n'=1+1\r\n'+1\r\n'-1\r\n'@x\r\n'\tx\r\n-1\r\n");
});
