// Pages of a list. A cursor is valid for one tenant and one list only.
import { type CursorSigner, cursorScope } from "./cursors.ts";

export type PageQuery = { limit: number; cursor?: string | undefined };

type PaginatedQuery<Row, Item> = {
  /** The list, the tenant and the filter. */
  scope: unknown[];
  read(after: string | undefined, limit: number): Promise<Row[]>;
  cursorId(row: Row): string;
  render(row: Row): Item;
};

export async function paginate<Row, Item>(
  cursors: CursorSigner,
  { cursor, limit }: PageQuery,
  query: PaginatedQuery<Row, Item>,
) {
  const scope = cursorScope(...query.scope);
  const after = cursor === undefined ? undefined : decodeId(cursors.verify(scope, cursor));
  const rows = await query.read(after, limit + 1);
  const page = rows.slice(0, limit);
  return {
    data: page.map(query.render),
    next_cursor: rows.length > limit ? cursors.sign(scope, encodeId(query.cursorId(page.at(-1)!))) : null,
  };
}

/** User ids may contain any character, including the separators of a cursor. */
const encodeId = (id: string) => Buffer.from(id).toString("base64url");
const decodeId = (id: string) => Buffer.from(id, "base64url").toString();
