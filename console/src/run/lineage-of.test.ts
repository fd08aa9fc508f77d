import type { RunNode } from "@gesso/client";
import { expect, it } from "vitest";
import { lineageOf } from "./lineage-of.ts";

const node = (run_id: string, parent_run_id: string | null) => ({ run_id, parent_run_id }) as RunNode;
const nodes = [node("root", null), node("a", "root"), node("b", "root"), node("c", "a"), node("other", null)];

it("finds parent, children and siblings", () => {
  const { parent, children, siblings } = lineageOf(nodes, "a");
  expect(parent?.run_id).toBe("root");
  expect(children.map(({ run_id }) => run_id)).toEqual(["c"]);
  expect(siblings.map(({ run_id }) => run_id)).toEqual(["b"]);
});

it("has no siblings for a root", () => {
  expect(lineageOf(nodes, "root").siblings).toEqual([]);
  expect(lineageOf([], "root").self).toBeUndefined();
});
