import { expect, it } from "vitest";
import { addRelease } from "./add-release.ts";

const CHANGELOG = "# Changelog\n\nText.\n\n## Unreleased\n\n### Images\n\n- Old.\n\n## 0.1.0\n\n- First.\n";

it("puts the texts of changesets and the unreleased changes under the version", () => {
  const summaries = ["Adds prices of $5.\n\nMore.", "Second."];
  expect(addRelease(CHANGELOG, { version: "0.2.0", summaries })).toBe(
    "# Changelog\n\nText.\n\n## Unreleased\n\n## 0.2.0\n\n- Adds prices of $5.\n  \n  More.\n- Second.\n\n" +
      "### Images\n\n- Old.\n\n## 0.1.0\n\n- First.\n",
  );
});

it("refuses a changelog without unreleased changes", () => {
  expect(() => addRelease("# Changelog\n", { version: "0.2.0", summaries: [] })).toThrow("no section Unreleased");
});
