import { expect, it } from "vitest";
import { findLibraryProblem } from "./library-version.ts";

it("names a decoding library that is too old or unknown, and no other", () => {
  for (const version of ["8.17.9", "8.9.0", "7.99.1", "8", "", "unknown"])
    expect([version, findLibraryProblem(version)]).toEqual([version, expect.stringContaining("Install 8.18 or newer")]);
  for (const version of ["8.18.0", "8.18.7", "8.20.1", "9.0.0", undefined])
    expect([version, findLibraryProblem(version)]).toEqual([version, undefined]);
});
