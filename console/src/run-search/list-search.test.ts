import { expect, it } from "vitest";
import { addTyped, filtersOf, histogramFilterOf, parseListSearch, tokensOf, withoutToken } from "./list-search.ts";

it("takes filters out of typed words", () => {
  const typed = 'red boat model:flux-dev tag:"summer sale" after:2026-10-01 is:starred f/1.8 seed:7';
  expect(addTyped({ q: "old", provider: "fal" }, typed)).toEqual({
    ...{ q: "red boat f/1.8 seed:7", provider: "fal", model: "flux-dev", tag: "summer sale" },
    ...{ after: "2026-10-01", starred: true },
  });
  expect(addTyped({ q: "old" }, "  ")).toEqual({});
  expect(addTyped({}, "after:yesterday")).toEqual({ q: "after:yesterday" });
});

it("leaves out values of the wrong kind", () => {
  const search = { q: "", model: 7, tag: "x", after: "2026-13-40", starred: "yes", roots: true, other: "y" };
  expect(parseListSearch(search)).toEqual({ tag: "x", roots: true });
});

it("shows every filter but words and star as a token", () => {
  const search = { q: "boat", model: "m", starred: true, roots: true } as const;
  expect(tokensOf(search)).toEqual([
    { name: "model", value: "m" },
    { name: "roots", value: "" },
  ]);
  expect(withoutToken(search, "model")).toEqual({ q: "boat", starred: true, roots: true });
});

it("asks the API for the days that the reader names, in the reader's time zone", () => {
  expect(filtersOf({ after: "2026-10-01", before: "2026-10-02", user: "ann" })).toEqual({
    user_id: "ann",
    created_after: new Date(new Date(2026, 9, 1).getTime() - 1).toISOString(),
    created_before: new Date(2026, 9, 2).toISOString(),
  });
});

it("counts months by the one filter that the histogram has", () => {
  expect(histogramFilterOf({ model: "m", q: "boat" })).toEqual({ model: "m" });
  expect(histogramFilterOf({ model: "m", provider: "p" })).toEqual({ status: "completed" });
  expect(histogramFilterOf({})).toEqual({ status: "completed" });
});
