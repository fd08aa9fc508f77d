import { expect, it } from "vitest";
import { createCursorSigner } from "./cursors.ts";
import { paginate } from "./pagination.ts";

const cursors = createCursorSigner([new Uint8Array(32).fill(7)], { now: () => 1_000_000 });
const NAMES = ["a", "b.c", "d e", "é", "~"];

/** Pages of the names, which a list reads in this order. */
const page = (request: { cursor?: string; limit: number }, scope: unknown[] = ["members", "tenant"]) =>
  paginate(cursors, request, {
    scope,
    read: async (after, limit) => {
      const start = after === undefined ? 0 : NAMES.indexOf(after) + 1;
      return NAMES.slice(start, start + limit).map((name) => ({ name }));
    },
    cursorId: ({ name }) => name,
    render: ({ name }) => `<${name}>`,
  });

it("pages show every row once, in order, whatever characters their ids have", async () => {
  for (const limit of [1, 2, 3, 5, 6]) {
    const shown: string[] = [];
    const pages: (string | null)[] = [];
    for (let cursor: string | undefined; ; ) {
      const { data, next_cursor } = await page({ limit, ...(cursor && { cursor }) });
      expect(data.length).toBeLessThanOrEqual(limit);
      shown.push(...data);
      pages.push(next_cursor);
      if (next_cursor === null) break;
      cursor = next_cursor;
    }
    expect(shown).toEqual(NAMES.map((name) => `<${name}>`));
    expect(pages).toHaveLength(Math.ceil(NAMES.length / limit));
  }
});

it("a cursor is refused by another list and for another tenant", async () => {
  const { next_cursor } = await page({ limit: 2 });
  for (const scope of [["members", "other"], ["keys", "tenant"], ["members"]]) {
    await expect(page({ limit: 2, cursor: next_cursor! }, scope)).rejects.toMatchObject({ code: "invalid_cursor" });
  }
  await expect(page({ limit: 2, cursor: "" })).rejects.toMatchObject({ code: "invalid_cursor" });
});
