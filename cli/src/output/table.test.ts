import { describe, expect, it } from "vitest";
import { renderObject, renderTable } from "./table.ts";

const RUN = {
  run_id: "01a1f407-f680-7319-8299-aeed8f41048d",
  type: "image-generation",
  created: "2026-11-19T13:38:00.000Z",
};
const render = (row: Record<string, unknown>, width?: number) => renderTable([row], Object.keys(row), width);

describe("a table in a terminal", () => {
  it("has all columns if they fit, or if the output is a file", () => {
    const whole = `${RUN.run_id}  ${RUN.type}  2026-11-19 13:38`;
    expect(render(RUN, whole.length)[1]).toBe(whole);
    expect(render(RUN)[1]).toBe(whole);
  });

  it("leaves out a column of which less than 17 characters would remain, with those after it", () => {
    expect(render({ ...RUN, size: 1 }, 71)).toEqual([`run_id${" ".repeat(32)}type`, `${RUN.run_id}  ${RUN.type}`]);
  });

  it("cuts a long column, and the first one always", () => {
    const prompt = "a lighthouse above the clouds at dawn";
    expect(render({ run_id: "1", prompt, model: "flux-dev" }, 30)[1]).toBe("1       a lighthouse above th…");
    expect(render({ prompt }, 10)[1]).toBe("a lightho…");
  });
});

it("an object has no lines for empty values", () => {
  expect(renderObject({ run_id: "1", warnings: [], error: null, prompt: "", tags: ["a", "b"], files: 0 })).toEqual([
    "run_id  1",
    "tags    a, b",
    "files   0",
  ]);
});
