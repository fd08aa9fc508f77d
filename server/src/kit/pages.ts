// Lists come in pages, all in the same way: what is asked for, and what comes.
import { z } from "zod";
import { words } from "./fields.ts";

export const perPage = {
  limit: z.int().min(1).max(100).default(20).describe("How many a page"),
  cursor: words("From `next_cursor` of the page before", 1024).optional(),
};

export const pageOf = <Shape extends z.ZodType>(shape: Shape, id: string) =>
  z
    .object({
      data: z.array(shape),
      next_cursor: z.string().nullable().describe("Give it as `cursor` for the next page"),
    })
    .meta({ id });
