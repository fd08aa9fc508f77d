// Finds statements of a migration that break processes of the previous version, or that hold a lock on an existing
// table for longer than a moment. Only statements known to be safe pass. Tables that the file creates are free.
import { parse } from "libpg-query";
import type { Migration } from "../server/src/db/migrations/migration-files.ts";

/** One node of PostgreSQL's parse tree. */
type SqlNode = Record<string, unknown>;
type SqlStatement = { type: string; body: SqlNode };
type FileContext = Pick<Migration, "kind"> & {
  isCreatedHere(table: string): boolean;
  /** `table.constraint`: what the file dropped so far. */
  droppedConstraints: Set<string>;
};

/** Empty for the baseline, which runs before any other process. */
export async function lintMigration({ name, kind, sql }: Migration): Promise<string[]> {
  if (kind === "baseline") return [];
  const statements = ((await parse(sql)).stmts ?? []).map(({ stmt }) => toStatement(stmt as SqlNode));
  const created = new Set(statements.flatMap(({ type, body }) => (type === "CreateStmt" ? [tableOf(body)] : [])));
  const context: FileContext = { kind, isCreatedHere: (table) => created.has(table), droppedConstraints: new Set() };
  const problems = statements.flatMap((statement) => lintStatement(statement, context));
  if (statements.length > 1 && statements.some(({ body }) => body.concurrent))
    problems.push("`concurrently` runs outside a transaction: make it the only statement of the file");
  return problems.map((problem) => `${name}: ${problem}`);
}

const toStatement = (node: SqlNode): SqlStatement => {
  const [type, body] = Object.entries(node)[0]!;
  return { type, body: body as SqlNode };
};
const tableOf = ({ relation, table }: SqlNode) =>
  ((relation ?? table) as { relname: string } | undefined)?.relname ?? "";

/** Statements that only add something new, or that PostgreSQL itself refuses where they would change a signature. */
const ADDING_STATEMENTS = [
  ...["CreateStmt", "CreateSeqStmt", "CreateEnumStmt", "CreateDomainStmt", "CompositeTypeStmt", "ViewStmt"],
  ...["CreateFunctionStmt", "CreateTrigStmt", "InsertStmt", "CommentStmt", "CreateStatsStmt", "CreateExtensionStmt"],
];

function lintStatement({ type, body }: SqlStatement, context: FileContext): string[] {
  if (ADDING_STATEMENTS.includes(type)) return [];
  const table = tableOf(body);
  if (context.isCreatedHere(table)) return [];
  const isContract = context.kind === "contract";
  switch (type) {
    case "AlterTableStmt":
      return (body.cmds as SqlNode[]).flatMap(({ AlterTableCmd }) =>
        lintTableChange(table, AlterTableCmd as SqlNode, context),
      );
    case "IndexStmt":
      if (!body.concurrent) return [`an index on ${table} blocks its writers: use \`create index concurrently\``];
      return body.unique && !isContract
        ? [`a unique index on ${table} refuses rows that the previous version writes: use a contract migration`]
        : [];
    case "CreatePolicyStmt":
      return body.permissive || isContract
        ? []
        : [`a restrictive policy on ${table} hides rows from the previous version`];
    case "GrantStmt":
      return body.is_grant || isContract ? [] : ["`revoke` takes a right from the previous version"];
    case "DropStmt":
      if (!isContract) return ["`drop` removes what the previous version uses: use a contract migration"];
      return body.removeType === "OBJECT_INDEX" && !body.concurrent ? ["use `drop index concurrently`"] : [];
    case "UpdateStmt":
    case "DeleteStmt":
      return [`${table}: a migration that changes rows locks them all: change them in batches, in a background duty`];
    case "RenameStmt":
      return [`a rename breaks the previous version: add ${body.newname}, write both, and drop the old name later`];
    case "DoStmt":
      return ["`do` hides its statements from this check: write them out"];
    case "TransactionStmt":
      return ["every migration is a transaction already"];
    default:
      return [`${type} is not known to be safe beside running processes; see lint-migration.ts`];
  }
}

/** Changes of an existing table that take no long lock and that the previous version does not notice. */
const SAFE_CHANGES = [
  ...["AT_ColumnDefault", "AT_DropNotNull", "AT_ValidateConstraint", "AT_SetStatistics", "AT_SetRelOptions"],
  ...["AT_ResetRelOptions", "AT_AttachPartition"],
];
const CONTRACTING_CHANGES = ["AT_DropColumn", "AT_SetNotNull", "AT_EnableRowSecurity", "AT_ForceRowSecurity"];

function lintTableChange(table: string, change: SqlNode, context: FileContext): string[] {
  const subtype = change.subtype as string;
  const isContract = context.kind === "contract";
  if (SAFE_CHANGES.includes(subtype)) return [];
  if (subtype === "AT_AddColumn") return lintNewColumn(table, (change.def as SqlNode).ColumnDef as SqlNode);
  if (subtype === "AT_DropConstraint") {
    context.droppedConstraints.add(`${table}.${change.name}`);
    return [];
  }
  if (subtype === "AT_AddConstraint") {
    const constraint = (change.def as SqlNode).Constraint as SqlNode;
    const isReplaced = context.droppedConstraints.has(`${table}.${constraint.conname}`);
    if (!constraint.skip_validation) return [`a constraint of ${table} scans the table: add it as \`not valid\``];
    return isContract || isReplaced ? [] : [`a constraint of ${table} refuses rows that the previous version writes`];
  }
  if (subtype === "AT_AlterColumnType")
    return [
      `a new type of ${table}.${change.name} rewrites the table: add a column, write both, drop the old one later`,
    ];
  if (CONTRACTING_CHANGES.includes(subtype) && isContract) return [];
  return [`${subtype.replace("AT_", "")} on ${table} breaks the previous version: use a contract migration`];
}

function lintNewColumn(table: string, column: SqlNode): string[] {
  const path = `${table}.${column.colname}`;
  const constraints = ((column.constraints ?? []) as SqlNode[]).map((each) => each.Constraint as SqlNode);
  const types = constraints.map(({ contype }) => contype as string);
  const fallback = constraints.find(({ contype }) => contype === "CONSTR_DEFAULT")?.raw_expr;
  const others = types.filter((type) => !["CONSTR_NOTNULL", "CONSTR_NULL", "CONSTR_DEFAULT"].includes(type));
  return [
    ...(types.includes("CONSTR_NOTNULL") && !fallback
      ? [`${path} is \`not null\` without a default: the previous version does not write it`]
      : []),
    ...(fallback && isVolatile(fallback) ? [`the default of ${path} calls a function, which rewrites the table`] : []),
    ...(others.length > 0 ? [`${path} has ${others.join(", ")}: add the column first, then the constraint`] : []),
    ...(isSerial(column) ? [`${path} is a serial, which rewrites the table`] : []),
  ];
}

/** `now()` is evaluated once; any other function may be evaluated for each row. */
const isVolatile = (expression: unknown) =>
  [...JSON.stringify(expression).matchAll(/"funcname":(\[.*?\])/g)].some(([, names]) => !names!.includes('"now"'));

const isSerial = ({ typeName }: SqlNode) => /"(small|big)?serial\d?"/.test(JSON.stringify(typeName));
