// Pages of lists, with cursors that are good for one tenant and one list only.
import { createHash } from "node:crypto";
import type { PageRequest } from "../kit/access-services.ts";

export type CursorSigner = { make(scope: string, lastId: string): string; read(scope: string, cursor: string): string };

type PaginatedQuery<Row, Shown> = {
  /** Whose list, of what. */
  scope: unknown[];
  read(after: string | undefined, limit: number): Promise<Row[]>;
  cursorId(row: Row): string;
  show(row: Row): Shown;
};

export async function paginate<Row, Shown>(
  cursors: CursorSigner,
  { cursor, limit }: PageRequest,
  list: PaginatedQuery<Row, Shown>,
) {
  const scope = createHash("sha256").update(JSON.stringify(list.scope)).digest("hex");
  const after = cursor === undefined ? undefined : unpacked(cursors.read(scope, cursor));
  const rows = await list.read(after, limit + 1);
  const shown = rows.slice(0, limit);
  return {
    data: shown.map(list.show),
    next_cursor: rows.length > limit ? cursors.make(scope, packed(list.cursorId(shown.at(-1)!))) : null,
  };
}

/** Ids of people may hold any sign, also those that cursors are made of. */
const packed = (id: string) => Buffer.from(id).toString("base64url");
const unpacked = (id: string) => Buffer.from(id, "base64url").toString();
