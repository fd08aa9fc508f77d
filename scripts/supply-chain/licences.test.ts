import { describe, expect, it } from "vitest";
import { findLicenceViolations, isAllowed, type LicencePolicy } from "./licences.ts";

const ALLOWED = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"];
const EXCEPTION = {
  package: "@img/sharp-libvips-*",
  stated: "LGPL-3.0-or-later",
  spdx: "LGPL-3.0-or-later",
  reason: "r",
};
const policyOf = (...exceptions: LicencePolicy["exceptions"]): LicencePolicy => ({ allowed: ALLOWED, exceptions });

describe("isAllowed", () => {
  it.each([
    ["MIT", true],
    ["GPL-3.0-only", false],
    ["(MIT OR GPL-3.0-only)", true],
    ["GPL-3.0-only OR MIT", true],
    ["MIT AND GPL-3.0-only", false],
    ["MIT AND Apache-2.0", true],
    ["GPL-3.0-only AND MIT OR Apache-2.0", true],
    ["GPL-3.0-only AND (MIT OR Apache-2.0)", false],
    ["Apache-2.0 WITH LLVM-exception", true],
    ["GPL-2.0 WITH Classpath-exception-2.0", false],
    ["SEE LICENSE IN LICENSE.txt", false],
    ["MIT License", false],
    ["UNLICENSED", false],
    ["", false],
  ])("%s: %s", (expression, expected) => {
    expect(isAllowed(expression, ALLOWED)).toBe(expected);
  });
});

describe("findLicenceViolations", () => {
  it("refuses a licence outside the list, and a package without a licence", () => {
    const packages = [
      { name: "a", licence: "AGPL-3.0-only" },
      { name: "b", licence: undefined },
      { name: "c", licence: "MIT" },
    ];
    expect(findLicenceViolations(packages, policyOf())).toEqual([
      "a: licence AGPL-3.0-only is not allowed",
      "b: licence missing is not allowed",
    ]);
  });

  it("an exception holds for the named packages and the stated licence only", () => {
    const libvips = { name: "@img/sharp-libvips-linux-x64", licence: "LGPL-3.0-or-later" };
    expect(findLicenceViolations([libvips], policyOf(EXCEPTION))).toEqual([]);
    expect(findLicenceViolations([libvips, { ...libvips, name: "other" }], policyOf(EXCEPTION))).toHaveLength(1);
    expect(findLicenceViolations([libvips, { ...libvips, licence: "GPL-3.0" }], policyOf(EXCEPTION))).toHaveLength(1);
  });

  it("refuses an exception without a reason, and one that no package uses", () => {
    const libvips = { name: "@img/sharp-libvips-linux-x64", licence: "LGPL-3.0-or-later" };
    expect(findLicenceViolations([libvips], policyOf({ ...EXCEPTION, reason: " " }))).toHaveLength(1);
    expect(findLicenceViolations([], policyOf(EXCEPTION))).toEqual([expect.stringContaining("is not used")]);
  });
});
