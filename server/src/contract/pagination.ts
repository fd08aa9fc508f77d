// Pagination of all list operations: the request fields and the response shape.
import { z } from "zod";
import { textField } from "./fields.ts";

export const paginationFields = {
  limit: z.int().min(1).max(100).default(20).describe("Items per page, 1 to 100. Default: 20"),
  cursor: textField("Value of `next_cursor` from the previous page", 1024).optional(),
};

export const pageSchema = <Shape extends z.ZodType>(shape: Shape, id: string) =>
  z
    .object({
      data: z.array(shape),
      next_cursor: z.string().nullable().describe("Pass it as `cursor` to get the next page. null on the last page"),
    })
    .meta({ id });
