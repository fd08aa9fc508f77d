import type { RunNode } from "@gesso/client";
import { expect, it } from "vitest";
import { layoutTree } from "./graph-layout.ts";
import { branchSum, pathSum } from "./tree-costs.ts";
import { moveInTree } from "./tree-keys.ts";
import { treeRowsOf } from "./tree-rows.ts";

const node = (run_id: string, parent_run_id: string | null, amount = 0.1) =>
  ({ run_id, parent_run_id, run_type: run_id, cost: { amount, currency: "USD" } }) as RunNode;
const nodes = [node("root", null), node("a", "root"), node("b", "root"), node("c", "a"), node("other", null)];
const tree = {
  root_run_id: "root",
  nodes,
  edges: [{ from: "c", to: "other", kind: "reference" as const, role: "source" as const }],
};

it("lists runs in reading order with their level and place", () => {
  const rows = treeRowsOf(tree);
  expect(rows.map(({ node: { run_id }, level, position, setSize }) => [run_id, level, position, setSize])).toEqual([
    ["root", 1, 1, 2],
    ["a", 2, 1, 2],
    ["c", 3, 1, 1],
    ["b", 2, 2, 2],
    ["other", 1, 2, 2],
  ]);
  expect(rows.at(-1)?.isReference).toBe(true);
  expect(treeRowsOf(tree, new Set(["a"])).map((row) => row.node.run_id)).toEqual(["root", "a", "b", "other"]);
});

it("moves by arrows, Home, End and letters", () => {
  const collapsed = new Set<string>();
  const place = { rows: treeRowsOf(tree), collapsed, titleOf: ({ node }: { node: RunNode }) => node.run_type };
  const move = (key: string, current: string) => moveInTree(key, { ...place, current });
  expect(move("ArrowDown", "root")).toEqual({ focus: "a" });
  expect(move("ArrowUp", "b")).toEqual({ focus: "c" });
  expect(move("ArrowRight", "a")).toEqual({ focus: "c" });
  expect(move("ArrowRight", "c")).toBeUndefined();
  expect(move("ArrowLeft", "c")).toEqual({ focus: "a" });
  expect(move("ArrowLeft", "a")).toEqual({ collapse: "a" });
  expect(move("Home", "other")).toEqual({ focus: "root" });
  expect(move("End", "root")).toEqual({ focus: "other" });
  expect(move("b", "root")).toEqual({ focus: "b" });
  expect(moveInTree("ArrowRight", { ...place, collapsed: new Set(["a"]), current: "a" })).toEqual({ expand: "a" });
});

it("gives each run a place that later runs do not change", () => {
  const placesOf = (count: number) =>
    layoutTree({ ...tree, nodes: nodes.slice(0, count) }).rows.map(({ node: { run_id }, x, y }) => [run_id, x, y]);
  const whole = new Map(placesOf(5).map(([id, ...place]) => [id, place]));
  for (const count of [1, 2, 3, 4]) {
    for (const [id, ...place] of placesOf(count)) expect(whole.get(id)).toEqual(place);
  }
  expect(new Set([...whole.values()].map(String)).size).toBe(5);
  expect(whole.get("other")?.[0]).toBeLessThan(0);
});

it("adds up path and branch in micro-dollars", () => {
  expect(pathSum(nodes, "c")).toEqual({ runs: 3, amount: 0.3 });
  expect(branchSum(nodes, "root")).toEqual({ runs: 4, amount: 0.4 });
  expect(branchSum(nodes, "b")).toEqual({ runs: 1, amount: 0.1 });
});
