import type { Run } from "@gesso/client";
import { expect, it } from "vitest";
import { galleryRows } from "./gallery-rows.ts";

const NOW = new Date(2026, 10, 16, 12);
const layout = { width: 1000, targetHeight: 200, gap: 6 };
const run = (id: string, hoursAgo: number, changes: Partial<Run> = {}) =>
  ({
    run_id: id,
    run_type: "image-generation",
    status: "completed",
    inputs: {},
    outputs: [{ role: "result", width: 300, height: 200 }],
    cost: { amount: 0.1, currency: "USD" },
    created_at: new Date(NOW.getTime() - hoursAgo * 3_600_000).toISOString(),
    ...changes,
  }) as Run;

it("starts every day with a heading that counts its runs and their cost", () => {
  const rows = galleryRows([run("c", 1), run("b", 2), run("a", 26)], layout, NOW);
  const headings = rows.filter((row) => row.kind === "day");
  expect(headings.map(({ daysAgo, runs, cost }) => [daysAgo, runs, cost])).toEqual([
    [0, 2, 0.2],
    [1, 1, 0.1],
  ]);
});

it("shows one tile for every file and leaves out uploads and runs without files", () => {
  const twoFiles = [
    { role: "result", width: 300, height: 200 },
    { role: "result", width: 300, height: 200 },
  ];
  const rows = galleryRows(
    [
      run("b", 1, { outputs: twoFiles as Run["outputs"] }),
      run("u", 1, { run_type: "upload" }),
      run("f", 1, { status: "failed", outputs: [] }),
    ],
    layout,
    NOW,
  );
  const tiles = rows.flatMap((row) => (row.kind === "tiles" ? row.tiles : []));
  expect(tiles.map(({ run: { run_id }, index }) => [run_id, index])).toEqual([
    ["b", 0],
    ["b", 1],
  ]);
});
