// The ledger can be read after its writer was killed in the middle of a line.
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openLedger } from "./ledger.ts";

test("an incomplete last line is ignored, and the next entry is on its own line", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "ledger-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const first = openLedger(dataDir);
  first.write({ fact: "delivered", id: "one" });
  first.close();
  appendFileSync(join(dataDir, "ledger.jsonl"), '{"fact":"deliv');
  const second = openLedger(dataDir);
  expect(second.events).toEqual([{ fact: "delivered", id: "one" }]);
  second.write({ fact: "delivered", id: "two" });
  second.close();
  const third = openLedger(dataDir);
  expect(third.events).toEqual([
    { fact: "delivered", id: "one" },
    { fact: "delivered", id: "two" },
  ]);
  third.close();
});
