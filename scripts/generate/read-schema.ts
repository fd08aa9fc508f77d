// Reads the schema of a migrated database from the catalogue of PostgreSQL: tables, triggers, functions and policies in
// the order of their names, so that equal schemas are equal texts.
import type pg from "pg";

export type DatabaseTable = {
  name: string;
  comment: string | null;
  /** `rest`: whether it can be null, its default or its expression. */
  columns: { name: string; type: string; rest: string }[];
  constraints: string[];
  indexes: string[];
  /** The query of a view. Null for a table. */
  view: string | null;
};
export type DatabaseTrigger = {
  name: string;
  table: string;
  functionName: string;
  /** Such as "after update of deleted_at, for rows with …". */
  when: string;
  definition: string;
};
export type DatabaseFunction = { name: string; isTrigger: boolean; source: string; definition: string };
export type Schema = {
  tables: DatabaseTable[];
  triggers: DatabaseTrigger[];
  functions: DatabaseFunction[];
  /** Of functions, by name. */
  comments: Record<string, string>;
  /** Row-level security and the rights of the roles, as statements. */
  policies: string[];
  /** What can call functions: policies, views, constraints, indexes, defaults and conditions of triggers. */
  definitions: string[];
};

const TABLES = `
  select relname as name, obj_description(pg_class.oid, 'pg_class') as comment,
    case relkind when 'v' then pg_get_viewdef(pg_class.oid, true) end as view,
    coalesce((
      select json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod), 'rest', concat_ws(' ',
        case when attnotnull then 'not null' end,
        case when attgenerated = 's' then 'generated always as (' || pg_get_expr(adbin, adrelid) || ') stored'
          when attidentity <> '' then 'generated always as identity'
          when adbin is not null then 'default ' || pg_get_expr(adbin, adrelid) end)) order by attnum)
      from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where attrelid = pg_class.oid and attnum > 0 and not attisdropped), '[]') as columns,
    array(select pg_get_constraintdef(oid) from pg_constraint
      where conrelid = pg_class.oid and contype in ('p', 'u', 'f', 'c') order by contype = 'p' desc, conname) as constraints,
    array(select pg_get_indexdef(indexrelid) from pg_index
      where indrelid = pg_class.oid and not exists (select from pg_constraint where conindid = indexrelid)
      order by indexrelid::regclass::text) as indexes
  from pg_class where relkind in ('r', 'p', 'v') and relnamespace = current_schema()::regnamespace order by relname`;

// Triggers of a table fire before the change, then after it, each in the order of their names.
const TRIGGERS = `
  select tgname as name, tgrelid::regclass::text as table, proname as "functionName", pg_get_triggerdef(pg_trigger.oid) as definition
  from pg_trigger join pg_proc on pg_proc.oid = tgfoid
  where not tgisinternal order by tgrelid::regclass::text, tgtype & 2 = 0, tgname`;

const FUNCTIONS = `
  select proname as name, prorettype = 'trigger'::regtype as "isTrigger", prosrc as source,
    pg_get_functiondef(pg_proc.oid) as definition, obj_description(pg_proc.oid, 'pg_proc') as comment
  from pg_proc where pronamespace = current_schema()::regnamespace and prokind = 'f' order by proname`;

const POLICIES = `
  select format('create policy %I on %I%s for %s to %s%s%s;', policyname, tablename,
    case when permissive = 'RESTRICTIVE' then ' as restrictive' else '' end, lower(cmd), array_to_string(roles, ', '),
    coalesce(' using ' || qual, ''), coalesce(' with check ' || with_check, '')) as policy
  from pg_policies where schemaname = current_schema() order by tablename, policyname`;

const RIGHTS = `
  select format('grant %s on %I to %s;', string_agg(lower(privilege_type), ', ' order by privilege_type), table_name, grantee)
    as policy
  from information_schema.role_table_grants
  where table_schema = current_schema() and grantee like 'gesso%'
  group by table_name, grantee order by table_name, grantee`;

export async function readSchema(client: pg.Client): Promise<Schema> {
  const read = async <Row>(text: string) => (await client.query(text)).rows as Row[];
  const tables = await read<DatabaseTable>(TABLES);
  const triggers = (await read<Omit<DatabaseTrigger, "when">>(TRIGGERS)).map((each) => {
    const definition = withoutSchema(each.definition);
    return { ...each, definition, when: whenOf(definition) };
  });
  const functions = await read<DatabaseFunction & { comment: string | null }>(FUNCTIONS);
  const policies = [...(await read<{ policy: string }>(POLICIES)), ...(await read<{ policy: string }>(RIGHTS))];
  const plain = tables.map((each) => ({ ...each, indexes: each.indexes.map(withoutSchema) }));
  return {
    tables: plain,
    triggers,
    functions: functions.map((each) => ({ ...each, definition: withoutSchema(each.definition) })),
    comments: Object.fromEntries(functions.flatMap(({ name, comment }) => (comment ? [[name, comment]] : []))),
    policies: policies.map(({ policy }) => policy),
    definitions: [
      ...policies.map(({ policy }) => policy),
      ...triggers.map(({ definition }) => definition.replace(/EXECUTE FUNCTION.*/i, "")),
      ...plain.flatMap(({ view, constraints, indexes, columns }) => [
        ...[view ?? "", ...constraints, ...indexes],
        ...columns.map(({ rest }) => rest),
      ]),
    ],
  };
}

/** Objects are in the first schema of the search path, so their names need none. */
const withoutSchema = (text: string): string => text.replaceAll(/\bpublic\./g, "");

function whenOf(definition: string): string {
  const [, events = "", condition] =
    /^CREATE (?:CONSTRAINT )?TRIGGER \w+ (.*?) ON \w+(?:.*? WHEN \((.*)\) EXECUTE)?/s.exec(definition) ?? [];
  const plain = condition
    ?.replace(/^\((.*)\)$/s, "$1")
    .replaceAll(/ (IS|NOT|NULL|AND|OR|DISTINCT|FROM)\b/g, (word) => word.toLowerCase());
  return `${events.toLowerCase()}${plain ? `, when ${plain}` : ""}`;
}
