// A large tree of completed runs, inserted straight into the database.
import type { Run } from "@gesso/client";
import { createTestRuntime } from "../../../server/test/support/test-runtime.ts";
import type { ConsoleBrowser } from "./console-browser.ts";

/**
 * A chain of `depth` runs, and further runs spread below its first runs. They have the tenant and the user of `like`.
 * Returns the root.
 */
export async function insertTree(
  { environment }: ConsoleBrowser,
  like: Pick<Run, "run_id">,
  { count, depth }: { count: number; depth: number },
): Promise<string> {
  const ids = Array.from({ length: count }, createTestRuntime().ids.next);
  const rows = ids.map((run_id, index) => {
    const isChain = index < depth;
    const level = isChain ? index + 1 : 2 + ((index - depth) % (depth - 1));
    return { run_id, parent_run_id: level === 1 ? null : ids[level - 2], root_run_id: ids[0], depth: level };
  });
  const INSERT = `insert into runs (run_id, tenant_id, user_id, operation, run_type, status, progress, inputs, plan,
      parent_run_id, root_run_id, depth, result, created_at, started_at, finished_at)
    select given.run_id, owner.tenant_id, owner.user_id, 'images.generate', 'image-generation', 'completed', 1,
      '{"prompt": "a large tree"}', '[]', given.parent_run_id, given.root_run_id, given.depth, '{"outputs": []}',
      now(), now(), now()
    from jsonb_to_recordset($1::jsonb) as given (run_id uuid, parent_run_id uuid, root_run_id uuid, depth int),
      runs owner where owner.run_id = $2`;
  // A trigger looks the parent up, so each level is inserted before the next.
  for (let level = 1; level <= depth; level++) {
    const some = rows.filter((row) => row.depth === level);
    await environment.query(INSERT, [JSON.stringify(some), like.run_id]);
  }
  return ids[0]!;
}
