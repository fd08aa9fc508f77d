import { describe, expect, it } from "vitest";
import { parseMigration } from "../server/src/db/migrations/migration-files.ts";
import { lintMigration } from "./lint-migration.ts";

const lint = (kind: "expand" | "contract since 0900", sql: string) =>
  lintMigration(parseMigration("0901_x.sql", `-- ${kind}: reason\n${sql}`));

const SAFE_EXPANSIONS = [
  "alter table runs add column region text",
  "alter table runs add column region text not null default 'eu'",
  "alter table runs add column seen_at timestamptz not null default now()",
  "alter table runs alter column region drop not null",
  "alter table runs validate constraint runs_check",
  "alter table runs drop constraint runs_kind; alter table runs add constraint runs_kind check (kind <> '') not valid",
  "create table notes (tenant_id uuid not null); create index on notes (tenant_id); alter table notes add primary key (tenant_id)",
  "create index concurrently runs_by_region on runs (region)",
  "create or replace function f() returns int language sql as 'select 1'",
  "create policy seen on runs for select to gesso_app using (true)",
  "grant select on runs to gesso_app",
  "insert into retention (days) values (3)",
];

const UNSAFE_EXPANSIONS: [sql: string, problem: string][] = [
  ["drop table runs", "removes what the previous version uses"],
  ["drop function f()", "removes what the previous version uses"],
  ["drop index runs_by_age", "removes what the previous version uses"],
  ["alter table runs drop column plan", "DropColumn on runs breaks the previous version"],
  ["alter table runs rename column plan to jobs", "a rename breaks the previous version: add jobs"],
  ["alter table runs rename to jobs", "a rename breaks the previous version"],
  ["alter table runs alter column plan type text", "rewrites the table"],
  ["alter table runs add column region text not null", "runs.region is `not null` without a default"],
  ["alter table runs add column token uuid default gen_random_uuid()", "calls a function"],
  ["alter table runs add column number bigserial", "rewrites the table"],
  ["alter table runs add column region text references regions", "add the column first"],
  ["alter table runs add column total int generated always as (1) stored", "add the column first"],
  ["alter table runs alter column plan set not null", "SetNotNull on runs breaks"],
  ["alter table runs add constraint c check (cost > 0)", "`not valid`"],
  ["alter table runs add constraint c check (cost > 0) not valid", "refuses rows that the previous version writes"],
  ["create index runs_by_region on runs (region)", "create index concurrently"],
  ["create unique index concurrently u on runs (region)", "refuses rows that the previous version writes"],
  ["create index concurrently i on runs (region); grant select on runs to a", "the only statement of the file"],
  ["revoke select on runs from gesso_app", "takes a right"],
  ["create policy p on runs as restrictive using (true)", "hides rows"],
  ["update runs set region = 'eu'", "in batches"],
  ["delete from runs", "in batches"],
  ["truncate runs", "not known to be safe"],
  ["lock table runs", "not known to be safe"],
  ["do $$ begin drop table runs; end $$", "hides its statements"],
  ["commit", "transaction already"],
];

describe("lintMigration", () => {
  it.each(SAFE_EXPANSIONS)("accepts in an expand migration: %s", async (sql) => {
    expect(await lint("expand", sql)).toEqual([]);
  });

  it.each(UNSAFE_EXPANSIONS)("refuses in an expand migration: %s", async (sql, problem) => {
    expect(await lint("expand", sql)).toEqual([expect.stringContaining(problem)]);
  });

  it.each([
    "alter table runs drop column region",
    "drop table regions",
    "drop index concurrently runs_by_region",
    "alter table runs alter column region set not null",
    "alter table runs add constraint c check (cost > 0) not valid",
    "create unique index concurrently u on runs (region)",
  ])("accepts in a contract migration: %s", async (sql) => {
    expect(await lint("contract since 0900", sql)).toEqual([]);
  });

  it.each([
    ["drop index runs_by_region", "concurrently"],
    ["alter table runs rename column plan to jobs", "a rename breaks"],
    ["alter table runs alter column plan type text", "rewrites the table"],
    ["create index runs_by_region on runs (region)", "concurrently"],
  ])("refuses even in a contract migration: %s", async (sql, problem) => {
    expect(await lint("contract since 0900", sql)).toEqual([expect.stringContaining(problem)]);
  });
});
