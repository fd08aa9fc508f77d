import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadCatalogue } from "./load-catalogue.ts";

const folder = mkdtempSync(join(tmpdir(), "gesso-catalogue-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a catalogue file", () => {
  it("that is missing has no problem, unless GESSO_CONFIG names it", () => {
    const path = join(folder, "missing.yaml");
    expect(loadCatalogue(path, false)).toMatchObject({ exists: false, problems: [] });
    expect(loadCatalogue(path, true).problems).toHaveLength(1);
  });

  it("that cannot be read is one problem that says what to do, not a crash", () => {
    const path = join(folder, "gesso.yaml");
    // A directory fails for every user. Permissions do not stop root.
    mkdirSync(path);
    const { exists, problems, formatProblems } = loadCatalogue(path, false);
    expect(exists).toBe(true);
    expect(formatProblems(problems)).toEqual([expect.stringMatching(/cannot be read \(EISDIR\).*set GESSO_CONFIG$/)]);
  });
});
