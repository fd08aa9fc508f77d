import { describe, expect, it } from "vitest";
import { countedTerm, marksOfFilter, splitIntoWords, termsOfFilter, termsOfRun } from "./search-terms.ts";

const RUN = {
  ...{ user_id: "ann", key_id: "k1", run_type: "image-generation", model: "flux-dev", provider: "fal" },
  ...{ parent_run_id: null, error_code: null, prompt: "A harbour, at dawn" },
};

describe("the words of a text", () => {
  it.each([
    ["A harbour, at dawn: a HARBOUR!", ["a", "harbour", "at", "dawn"]],
    ["ｆｕｌｌ width and Ünï-cödé", ["full", "width", "and", "ünï", "cödé"]],
    ["lens 35mm f/1.8", ["lens", "35mm", "f", "1.8"]],
    ["don't", ["don't"]],
    ["", []],
    ["… 🎈 !!!", []],
  ])("of %j", (text, words) => {
    expect(splitIntoWords(text)).toEqual(words);
  });

  it("are found in a script without spaces, in the text and alone", () => {
    const words = splitIntoWords("夜明けの港");
    expect(words.length).toBeGreaterThan(1);
    for (const word of words) expect(splitIntoWords(word)).toEqual([word]);
  });

  it("are at most 64, and at most 40 characters long", () => {
    const text = Array.from({ length: 100 }, (_, n) => `word${n}`).join(" ");
    expect(splitIntoWords(text)).toHaveLength(64);
    expect(splitIntoWords("x".repeat(100))).toEqual(["x".repeat(40)]);
  });
});

describe("the terms of a run", () => {
  it("have provider and status once the run has ended", () => {
    const open = termsOfRun({ ...RUN, status: "processing" });
    expect(open).toEqual([
      ...["type:image-generation", "model:flux-dev", "key:k1", "user:ann", "root"],
      ...["word:a", "word:harbour", "word:at", "word:dawn"],
    ]);
    const ended = termsOfRun({ ...RUN, status: "failed", error_code: "run_timeout" });
    expect(ended.filter((term) => !open.includes(term))).toEqual([
      ...["status:failed", "provider:fal", "error:run_timeout"],
    ]);
  });

  it("contain every term of a filter that the run matches", () => {
    const terms = termsOfRun({ ...RUN, status: "completed" });
    const filter = { q: "DAWN harbour", model: "flux-dev", provider: "fal", key_id: "k1", user_id: "ann", roots: true };
    expect(termsOfFilter({ ...filter, status: "completed" }).filter((term) => !terms.includes(term))).toEqual([]);
  });

  it("are apart from stars and tags", () => {
    const filter = { tag: "x", starred: true, roots: false };
    expect([termsOfFilter(filter), marksOfFilter(filter)]).toEqual([[], ["tag:x", "starred"]]);
  });
});

it("a count has the term of its only filter, or that of all runs", () => {
  expect(countedTerm({ model: "flux-dev" })).toBe("model:flux-dev");
  expect(countedTerm({ roots: true })).toBe("root");
  expect(countedTerm({ roots: false })).toBe("");
  expect(countedTerm({})).toBe("");
});
