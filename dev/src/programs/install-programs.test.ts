import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../test/scratch.ts";
import { PROGRAMS_VERSION, programsFolder } from "./find-program.ts";
import { installInto } from "./install-programs.ts";

/** An npm that runs these lines of a shell in the folder that it installs into. */
function fakeNpm(...lines: string[]): string {
  const npm = join(temporaryDirectory(), "npm");
  writeFileSync(npm, ["#!/bin/sh", ...lines, ""].join("\n"));
  chmodSync(npm, 0o755);
  return npm;
}

it("has a folder per version, in the data of the user", () => {
  expect(programsFolder({ XDG_DATA_HOME: "/data" })).toBe(`/data/gesso/programs-${PROGRAMS_VERSION}`);
});

it("installs the version of gesso without install scripts", async () => {
  const home = temporaryDirectory();
  await installInto(join(home, "programs"), fakeNpm('echo "$@" > parameters'));
  expect(readdirSync(home)).toEqual(["programs"]);
  const parameters = readFileSync(join(home, "programs", "parameters"), "utf8")
    .trim()
    .split(" ");
  expect(parameters).toEqual(expect.arrayContaining(["install", "--ignore-scripts", `gesso-dev@${PROGRAMS_VERSION}`]));
});

it("says what npm said and how to install by hand, and leaves nothing behind", async () => {
  const home = temporaryDirectory();
  const failing = installInto(join(home, "programs"), fakeNpm("touch half", "echo no route to host >&2", "exit 1"));
  await expect(failing).rejects.toThrow(/npm install --global --ignore-scripts gesso-dev@.*\nno route to host/);
  expect(readdirSync(home)).toEqual([]);
});

it("keeps an installation that another start has finished meanwhile", async () => {
  const home = temporaryDirectory();
  const folder = join(home, "programs");
  await installInto(folder, fakeNpm(`mkdir ${folder}`, `touch ${folder}/theirs`));
  expect(existsSync(join(folder, "theirs"))).toBe(true);
  expect(readdirSync(home)).toEqual(["programs"]);
});
