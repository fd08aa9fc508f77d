import { expect, it } from "vitest";
import type { Schema } from "./read-schema.ts";
import { findUnused, sqlOf } from "./schema.ts";

const tableOf = (name: string) => ({ name, comment: "c", columns: [], constraints: [], indexes: [], view: null });
const functionOf = (name: string, source: string, isTrigger = false) => ({ name, isTrigger, source, definition: "" });
const triggerOf = (name: string, table: string, functionName: string) => ({
  ...{ name, table, functionName, when: "after update", definition: "" },
});
const SCHEMA: Schema = {
  tables: ["runs", "run_index"].map(tableOf),
  functions: [
    functionOf("search_runs", "select run_id from run_index where has_all_terms(terms)"),
    functionOf("has_all_terms", "select true"),
    functionOf("clear_run_index", "delete from run_index", true),
    functionOf("current_tenant_id", "select 1"),
  ],
  triggers: [triggerOf("clear_run_index", "runs", "clear_run_index")],
  comments: {},
  policies: [],
  definitions: ["create policy own on runs using (tenant_id = current_tenant_id())"],
};
const PROGRAM = "update runs set x = 1; select search_runs(1)";

it("finds nothing unused where the program, a trigger, a policy or a function in use needs everything", () => {
  expect(findUnused(SCHEMA, PROGRAM)).toEqual([]);
});

it("finds a function that only another unused function calls", () => {
  const functions = [...SCHEMA.functions, functionOf("old", "select older()"), functionOf("older", "select 1")];
  expect(findUnused({ ...SCHEMA, functions }, PROGRAM)).toEqual(["function old", "function older"]);
});

it("finds a table that triggers keep and no statement reads, with the triggers of it", () => {
  const old: Schema = {
    ...SCHEMA,
    tables: [...SCHEMA.tables, tableOf("run_terms")],
    functions: [...SCHEMA.functions, functionOf("keep_terms", "insert into run_terms select 1", true)],
    triggers: [
      ...SCHEMA.triggers,
      triggerOf("keep_terms", "runs", "keep_terms"),
      triggerOf("t", "run_terms", "keep_terms"),
    ],
  };
  expect(findUnused(old, PROGRAM)).toEqual(["table run_terms", "trigger t of run_terms"]);
});

it("finds a function of a trigger whose table the program does not use", () => {
  expect(findUnused(SCHEMA, "select 1")).toEqual([
    ...["table runs", "table run_index"],
    ...["function search_runs", "function has_all_terms", "function clear_run_index"],
    "trigger clear_run_index of runs",
  ]);
});

it("reads SQL from the literals of a module, and not from its comments", () => {
  const module =
    '// from old_table\nimport { x } from "./x.ts";\nconst A = `select a from runs`;\nconst B = "is_free(:a)";';
  expect(sqlOf(module)).toBe('`select a from runs`\n"is_free(:a)"');
});
