// The planted faults fit the code as it is: a patch that no longer applies would plant nothing.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { readPlantedFaults } from "./planted-faults.ts";
import { REPOSITORY } from "./repository-copy.ts";

test("there are at least 33 planted faults", () => {
  expect(readPlantedFaults().length).toBeGreaterThanOrEqual(33);
});

test.each(readPlantedFaults())("the planted fault $name applies to the code", ({ file }) => {
  const check = ["apply", "--check", "--unidiff-zero", file];
  expect(() => execFileSync("git", check, { cwd: REPOSITORY, stdio: "pipe" })).not.toThrow();
});

test.each(readPlantedFaults())("the planted fault $name leaves code that can be read", ({ file, paths }) => {
  const folder = mkdtempSync(join(tmpdir(), "gesso-planted-"));
  try {
    for (const path of paths) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      cpSync(join(REPOSITORY, path), join(folder, path));
    }
    execFileSync("git", ["apply", "--unidiff-zero", file], { cwd: folder, stdio: "pipe" });
    for (const path of paths.filter((each) => each.endsWith(".ts")))
      expect(() => stripTypeScriptTypes(readFileSync(join(folder, path), "utf8"))).not.toThrow();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

// Git inserts at the line that a hunk names, whatever is there.
test.each(readPlantedFaults())("the planted fault $name replaces lines, and does not only insert", ({ file }) => {
  expect(readFileSync(file, "utf8")).not.toMatch(/^@@ -\d+,0 /m);
});

/** The code that the simulation executes. Everything else is its model. */
const SIMULATED = ["execute/execute", "execute/run-side-by-side", "execute/result-slots", "execute/run-fault"]
  .concat("outputs/nothing-found", "steps")
  .map((name) => `server/src/runs/${name}.ts`);

test.each(readPlantedFaults())("the planted fault $name says whether the simulation executes its code", (plant) => {
  expect(plant.isSimulated).toBe(plant.paths.some((path) => SIMULATED.includes(path)));
});

test("the simulation executes these modules", () => {
  const source = readFileSync(`${REPOSITORY}/server/src/runs/execute/execute.ts`, "utf8");
  const imported = [...source.matchAll(/^import \{[^}]*\} from "(\.[^"]+)";/gm)].map(([, path = ""]) => path);
  const paths = imported.map((path) => join("server/src/runs/execute", path));
  expect(paths).toEqual(expect.arrayContaining(SIMULATED.slice(1)));
});
