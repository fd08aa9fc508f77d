// Generates the schema as it is, from a migrated database: the SQL of each domain below `server/schema`, and the
// reference page of tables, triggers and functions. Finds what no statement of the program uses.
import type pg from "pg";
import { code, page, table } from "./markdown.ts";
import { type DatabaseFunction, type DatabaseTable, readSchema, type Schema } from "./read-schema.ts";

/** The domains of the schema with their tables, in the order of the reference. */
const DOMAINS: Record<string, { title: string; tables: string[] }> = {
  runs: {
    title: "Runs",
    tables: [
      ...["runs", "open_runs", "open_requests", "planned_requests", "attempts", "run_references", "staged_runs"],
      ...["suspect_runs", "unsuccessful_runs", "idempotency_keys", "client_requests"],
    ],
  },
  scheduling: {
    title: "Queue, providers and background work",
    tables: [
      ...["queue_start_rates", "circuit_breakers", "provider_rate_limits", "leases", "workers", "pauses", "outbox"],
      "engine_incarnation",
    ],
  },
  money: {
    title: "Money",
    tables: [
      "budgets",
      "transfers",
      "entries",
      "daily_usage",
      "daily_usage_cursor",
      "attributed_usage",
      "attributed_usage_cursor",
    ],
  },
  files: { title: "Files", tables: ["assets", "storage_usage", "expiring_runs", "retention", "orphaned_objects"] },
  events: { title: "Events", tables: ["events", "event_clock", "lost_event_positions"] },
  webhooks: {
    title: "Webhooks",
    tables: [
      ...["webhook_endpoints", "webhook_secrets", "webhook_deliveries", "open_deliveries", "webhook_attempts"],
      ...["webhook_circuit_breakers", "webhook_cursor", "webhook_replays", "webhook_listeners"],
      ...["webhook_progress_sent", "webhook_set_aside_events"],
    ],
  },
  library: {
    title: "Library and search",
    tables: [
      ...["prompts", "prompt_versions", "models", "model_grants", "imported_models", "model_pins", "lora_names"],
      ...["run_marks", "marked_runs", "run_index", "run_counts", "run_index_position"],
    ],
  },
  access: {
    title: "Access",
    tables: [
      ...["tenants", "members", "api_keys", "console_sessions", "console_codes", "used_logout_tokens"],
      ...["token_buckets", "audit_log", "audit_pending", "audit_checkpoints", "audit_head", "tenant_deletions"],
    ],
  },
  archive: {
    title: "Archive",
    tables: ["archive_batches", "archived_runs", "archived_transfers", "archived_usage", "archived_attributed_usage"],
  },
  migrations: { title: "Migrations", tables: ["schema_migrations"] },
};

const words = (text: string): Set<string> => new Set(text.match(/[a-z_][a-z0-9_]*/g) ?? []);

const SQL = /\b(select|perform|from|insert into|update|delete|truncate|join)\b|\b[a-z]+_[a-z_]+\(/;

/** The SQL in a module: its string literals with a statement, a call or a part of one, without comments. */
export function sqlOf(module: string): string {
  const literals = module.replace(/^\s*(\/\/|\/?\*).*$/gm, "").match(/`[^`]*`|"[^"\n]*"/g) ?? [];
  return literals.filter((text) => SQL.test(text)).join("\n");
}

/**
 * What nothing uses: a function that neither the program, a trigger, a policy, an index nor another function in use
 * calls, and a table that is only written by triggers. `program` is the SQL of the program.
 */
export function findUnused(schema: Schema, program: string): string[] {
  const byProgram = words(program);
  const definitions = words(schema.definitions.join("\n"));
  const live = new Set(
    schema.functions
      .filter(({ name }) => byProgram.has(name) || definitions.has(name) || isForEarlierVersions(schema, name))
      .map(({ name }) => name),
  );
  const usesOf = (names: Set<string>, isTrigger: boolean) => {
    const used = schema.functions.filter((each) => names.has(each.name) && each.isTrigger === isTrigger);
    return words(used.map(({ source }) => source).join("\n"));
  };
  for (let size = -1; size !== live.size; ) {
    size = live.size;
    const called = usesOf(live, false);
    for (const { name } of schema.functions) if (called.has(name)) live.add(name);
    const tables = new Set(
      schema.tables.map(({ name }) => name).filter((name) => byProgram.has(name) || called.has(name)),
    );
    for (const { table: of, functionName } of schema.triggers) if (tables.has(of)) live.add(functionName);
    for (const { name } of schema.functions) if (usesOf(live, true).has(name)) live.add(name);
  }
  const read = new Set([...byProgram, ...usesOf(live, false)]);
  return [
    ...schema.tables.filter(({ name }) => !read.has(name)).map(({ name }) => `table ${name}`),
    ...schema.functions.filter(({ name }) => !live.has(name)).map(({ name }) => `function ${name}`),
    ...schema.triggers
      .filter(({ table: of, functionName }) => !read.has(of) || !live.has(functionName))
      .map(({ name, table: of }) => `trigger ${name} of ${of}`),
  ];
}

/** A function that only processes of earlier versions call says so, until a contract migration drops it. */
const isForEarlierVersions = ({ comments }: Schema, name: string) =>
  comments[name]?.startsWith("For processes of earlier versions") ?? false;

/** Callers of a function: modules of the program, triggers, and other functions. */
function listCallers(schema: Schema, { name }: DatabaseFunction, modules: Record<string, string>): string[] {
  return [
    ...Object.entries(modules)
      .filter(([, text]) => words(text).has(name))
      .map(([path]) => code(path)),
    ...[...new Set(schema.triggers.filter((each) => each.functionName === name).map((each) => each.table))].map(
      (of) => `trigger of ${code(of)}`,
    ),
    ...schema.functions
      .filter((each) => each.name !== name && words(each.source).has(name))
      .map((each) => code(`${each.name}()`)),
    ...(words(schema.definitions.join("\n")).has(name) ? ["policies, indexes, views or defaults"] : []),
  ];
}

/** The domain of a function is that of its trigger's table, or else of the first table that it names. */
function domainOfFunction(schema: Schema, each: DatabaseFunction): string {
  const triggered = schema.triggers.filter(({ functionName }) => functionName === each.name).map(({ table: of }) => of);
  const [first] = [...triggered, ...words(each.source)].flatMap((word) =>
    Object.keys(DOMAINS).filter((domain) => DOMAINS[domain]!.tables.includes(word)),
  );
  return first ?? "basics";
}

function assertDomains({ tables }: Schema): void {
  const known = Object.values(DOMAINS).flatMap((domain) => domain.tables);
  const names = tables.map(({ name }) => name);
  const wrong = [...names.filter((name) => !known.includes(name)), ...known.filter((name) => !names.includes(name))];
  if (wrong.length > 0)
    throw new Error(`DOMAINS of scripts/generate/schema.ts and the tables of the database differ: ${wrong.join(", ")}`);
  const silent = tables.filter(({ comment }) => comment === null).map(({ name }) => name);
  if (silent.length > 0) throw new Error(`Tables without a comment: ${silent.join(", ")}. Add \`comment on table\`.`);
}

const HEADER = "-- Generated by `npm run generate` from the migrations. Do not edit.\n";
const PAGE = "docs/reference/schema.md";

/** The files by path. `modules`: the SQL of the program by module. Throws if something of the schema is unused. */
export async function generateSchema(
  client: pg.Client,
  modules: Record<string, string>,
): Promise<Record<string, string>> {
  const schema = await readSchema(client);
  assertDomains(schema);
  const unused = findUnused(schema, Object.values(modules).join("\n"));
  if (unused.length > 0) throw new Error(`Nothing uses: ${unused.join(", ")}. Drop it with a contract migration.`);
  const tableOf = (name: string) => schema.tables.find((each) => each.name === name)!;
  const functionsOf = (domain: string) => schema.functions.filter((each) => domainOfFunction(schema, each) === domain);
  const sql = Object.entries({ ...DOMAINS, basics: { title: "Basics", tables: [] } }).map(([domain, { tables }]) => {
    const parts = [
      ...tables.map((name) => tableSql(schema, tableOf(name))),
      ...functionsOf(domain).map(({ definition }) => `${definition.trim()};`),
    ];
    return [`server/schema/${domain}.sql`, `${HEADER}\n${parts.join("\n\n")}\n`];
  });
  const security = schema.policies.join("\n");
  return {
    ...Object.fromEntries(sql),
    "server/schema/security.sql": `${HEADER}\n${security}\n`,
    [PAGE]: generatePage(schema, modules, functionsOf),
  };
}

function tableSql(schema: Schema, { name, comment, columns, constraints, indexes, view }: DatabaseTable): string {
  const head = `-- ${comment}\n`;
  if (view) return `${head}create view ${name} as\n${view}`;
  const lines = [
    ...columns.map(({ name: column, type, rest }) => `  ${[column, type, rest].filter(Boolean).join(" ")}`),
    ...constraints.map((constraint) => `  ${constraint}`),
  ];
  const triggers = schema.triggers.filter((each) => each.table === name).map(({ definition }) => `${definition};`);
  return [
    `${head}create table ${name} (\n${lines.join(",\n")}\n);`,
    ...indexes.map((index) => `${index};`),
    ...triggers,
  ].join("\n");
}

function generatePage(
  schema: Schema,
  modules: Record<string, string>,
  functionsOf: (domain: string) => DatabaseFunction[],
): string {
  const sections = Object.entries(DOMAINS).flatMap(([domain, { title, tables }]) => [
    `## ${title}`,
    `As SQL: [\`server/schema/${domain}.sql\`](../../server/schema/${domain}.sql).`,
    ...tables.flatMap((name) => describeTable(schema, name)),
    ...describeFunctions(schema, functionsOf(domain), modules),
  ]);
  return page(
    "Database schema",
    "The tables of Gesso's database as all migrations together make them, with their triggers, and the functions with their " +
      "callers. Read it to find what else happens when a row changes. [PostgreSQL](../guide/postgresql.md) says how to run the " +
      "database, and [`server/migrations`](../../server/migrations) has the reasons.",
    ...sections,
    "## Basics",
    ...describeFunctions(schema, functionsOf("basics"), modules),
  );
}

function describeTable(schema: Schema, name: string): string[] {
  const { comment, columns } = schema.tables.find((each) => each.name === name)!;
  const triggers = schema.triggers.filter((each) => each.table === name);
  const rows = columns.map(({ name: column, type, rest }) => [code(column), type, rest]);
  return [
    `### ${name}`,
    comment ?? "",
    table(["Column", "Type", "Rules"], rows),
    ...(triggers.length > 0
      ? [
          "Triggers, in the order in which they fire:",
          table(
            ["When", "Trigger", "What it does"],
            triggers.map((each) => [each.when, code(each.name), schema.comments[each.functionName] ?? ""]),
          ),
        ]
      : []),
  ];
}

function describeFunctions(schema: Schema, functions: DatabaseFunction[], modules: Record<string, string>): string[] {
  const called = functions.filter(({ isTrigger }) => !isTrigger);
  if (called.length === 0) return [];
  const rows = called.map((each) => [code(`${each.name}()`), listCallers(schema, each, modules).join(", ")]);
  return ["Functions:", table(["Function", "Called by"], rows)];
}
