import type { Run } from "@gesso/client";
import { expect, it } from "vitest";
import { createRowBuilder, type GalleryRow } from "./gallery-rows.ts";

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
const tilesOf = (rows: GalleryRow[]) => rows.flatMap((row) => (row.kind === "tiles" ? row.tiles : []));

it("starts every day with a heading that counts its runs and their cost", () => {
  const rows = createRowBuilder()([run("c", 1), run("b", 2), run("a", 26)], layout, false);
  const headings = rows.filter((row) => row.kind === "day");
  expect(headings.map(({ totals }) => totals)).toEqual([
    { runs: 2, cost: 0.2 },
    { runs: 1, cost: 0.1 },
  ]);
});

it("shows one tile for every file and leaves out uploads and runs without files", () => {
  const twoFiles = [
    { role: "result", width: 300, height: 200 },
    { role: "result", width: 300, height: 200 },
  ];
  const rows = createRowBuilder()(
    [
      run("b", 1, { outputs: twoFiles as Run["outputs"] }),
      run("u", 1, { run_type: "upload" }),
      run("f", 1, { status: "failed", outputs: [] }),
    ],
    layout,
    false,
  );
  expect(tilesOf(rows).map(({ key }) => key)).toEqual(["b 0", "b 1"]);
});

it("does not move rows when older runs of their day arrive, and counts the day when all are there", () => {
  const build = createRowBuilder();
  const runs = Array.from({ length: 20 }, (_, index) => run(`r${index}`, 1 + index / 100));
  const first = build(runs.slice(0, 10), layout, true);
  const then = build(runs, layout, false);
  expect(first.length).toBeGreaterThan(2);
  for (const [index, row] of first.entries())
    expect([then[index]?.key, then[index]?.height]).toEqual([row.key, row.height]);
  expect(first[0]).toMatchObject({ totals: null });
  expect(then[0]).toMatchObject({ totals: { runs: 20 } });
});

it("keeps the rows of days that have not changed", () => {
  const build = createRowBuilder();
  const runs = [run("c", 1), run("b", 2), run("a", 26)];
  const first = build(runs, layout, false);
  const then = build([run("c", 1), ...runs.slice(1)], layout, false);
  expect(then[1]).not.toBe(first[1]);
  expect(then[3]).toBe(first[3]);
});
