// Generates the forms of the console for operations that manage access, webhooks, models and tenants: every operation
// with a JSON body that creates no run. As for runs, the console writes no field by hand.
import { AGENT_SCOPE, CONTENT_SCOPE, needsScope, requiredScope } from "../../server/src/access/scopes.ts";
import { operations } from "../../server/src/operations/all.ts";
import { type ClientOperation, type Contract, listClientOperations, type Schema } from "./client-operations.ts";
import { describeField, type FormField } from "./console-operations.ts";
import { GENERATED_NOTICE } from "./markdown.ts";

const SCOPE_PATTERN = "(read|write|\\*))$";

/** Every scope that an operation needs, and those for agents and for content of tenants, for the form of a key. */
const listScopes = (): string[] =>
  [...new Set([...operations.filter(needsScope).map(requiredScope), AGENT_SCOPE, CONTENT_SCOPE])].sort((a, b) =>
    a < b ? -1 : 1,
  );

/** The schema without references and without `null`, which is the same as leaving a field empty. */
function resolveSchema(schema: Schema, contract: Contract): Schema {
  const name = schema.$ref?.split("/").at(-1);
  const { $ref: _, ...own } = schema;
  if (name) return resolveSchema({ ...contract.components.schemas[name], ...own }, contract);
  const [value, ...others] = (schema.anyOf ?? []).filter(({ type }) => type !== "null");
  if (!value || others.length > 0) return schema;
  const { anyOf: _choices, ...rest } = schema;
  return resolveSchema({ ...value, ...rest }, contract);
}

type Place = { section: FormField["section"]; isRequired: boolean };

function describeManagementField(name: string, unresolved: Schema, place: Place, contract: Contract): FormField {
  const schema = resolveSchema(unresolved, contract);
  const { default: preset, ...described } = describeField(name, schema, place);
  const field = {
    ...described,
    // In a form, null is an empty field.
    ...(described.description && { description: described.description.replaceAll(/\bnull: /g, "Empty: ") }),
    ...(preset !== null && preset !== undefined && { default: preset }),
  };
  if (schema.type === "object" && schema.properties) {
    const { default: _, ...group } = field;
    const items = Object.entries(schema.properties).map(([inner, own]) =>
      describeManagementField(inner, own, { section: "main", isRequired: false }, contract),
    );
    return { ...group, widget: "group", items };
  }
  if (schema.format === "date-time") return { ...field, widget: "time" };
  if (schema.type !== "array") return field;
  if (schema.items?.pattern?.endsWith(SCOPE_PATTERN)) return { ...field, widget: "scopes", options: listScopes() };
  return schema.items?.enum ? { ...field, widget: "checks", options: schema.items.enum } : field;
}

function describeManagementOperation({ summary, path, json = {} }: ClientOperation, contract: Contract) {
  const { properties = {}, required = [] } = json;
  const fields = Object.entries(properties).map(([name, schema]) => {
    const isRequired = required.includes(name);
    return describeManagementField(name, schema, { section: isRequired ? "main" : "advanced", isRequired }, contract);
  });
  return { title: summary.split(/[:.]/)[0], path, fields };
}

export function generateManagementForms(contract: object): string {
  const managing = listClientOperations(contract as Contract).filter(
    ({ json, operation }) => json?.properties && !operation["x-run-type"] && !operation["x-creates-run"],
  );
  const forms = managing.map((each) => [each.name, describeManagementOperation(each, contract as Contract)]);
  return `${JSON.stringify({ notice: GENERATED_NOTICE, operations: Object.fromEntries(forms) }, null, 2)}\n`;
}
