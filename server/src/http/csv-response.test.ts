import { expect, it } from "vitest";
import { renderCsv } from "./csv-response.ts";

it("renders a line of names and a line for each row, with empty cells for missing values", () => {
  expect(renderCsv([{ day: "2030-01-01", key_id: null, amount: 0.5 }])).toBe(
    "day,key_id,amount\r\n2030-01-01,,0.5\r\n",
  );
});

it("quotes cells with separators", () => {
  expect(renderCsv([{ name: 'a "b", c\nd' }])).toBe('name\r\n"a ""b"", c\nd"\r\n');
});

it("prevents formulas in text, and leaves numbers unchanged", () => {
  const rows = ["=1+1", "+1", "-1", "@x", "\tx", -1].map((cell) => ({ cell }));
  expect(renderCsv(rows)).toBe("cell\r\n'=1+1\r\n'+1\r\n'-1\r\n'@x\r\n'\tx\r\n-1\r\n");
});
