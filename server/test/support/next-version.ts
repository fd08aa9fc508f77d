// A synthetic next version of the program: one more journalled step in every run, and a schema with one more column.
import { join } from "node:path";
import { copyProgram } from "./program-copies.ts";

const STEP = {
  path: "src/engine/run-service.ts",
  from: "run: (context: restate.Context, { plan, ...claim }: RunInvocation) =>\n        traceInvocation(",
  to:
    "run: async (context: restate.Context, { plan, ...claim }: RunInvocation) =>\n" +
    '        void (await context.run("added by the next version", async () => 1)) ??\n        traceInvocation(',
};
const MIGRATION = {
  path: "migrations/9000_next_version.sql",
  to: `-- expand: columns of the next version
alter table runs add column next_version text;
alter table open_runs add column next_version text not null default 'x';
alter table attempts add column next_version text;
alter table tenants add column next_version text;
`,
};

/** Returns the entry file. */
export const createNextVersion = (directory: string): string => copyProgram(join(directory, "next"), [STEP, MIGRATION]);
