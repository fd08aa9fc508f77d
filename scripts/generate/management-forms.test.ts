import { expect, it } from "vitest";
import { generateOpenApi } from "../../server/src/contract/openapi.ts";
import { operations as listed } from "../../server/src/operations/all.ts";
import { generateManagementForms } from "./management-forms.ts";

type Field = { name: string; widget: string; items?: Field[]; options?: string[] };
const { operations } = JSON.parse(generateManagementForms(generateOpenApi(listed))) as {
  operations: Record<string, { fields: Field[] }>;
};
const fieldsOf = (operation: string) => operations[operation]!.fields;
const find = (operation: string, name: string) => fieldsOf(operation).find((field) => field.name === name)!;

it("has every field of a new key, with its limits as a group and its scopes by name", () => {
  expect(fieldsOf("keys.create").map(({ name, widget }) => [name, widget])).toEqual([
    ["name", "text"],
    ["scopes", "scopes"],
    ["expires_at", "time"],
    ["limits", "group"],
    ["user_id", "text"],
  ]);
  expect(find("keys.create", "limits").items?.map(({ name }) => name)).toContain("spend_per_month");
  expect(find("keys.create", "scopes").options).toEqual(expect.arrayContaining(["images:write", "tenants:read"]));
});

it("has checks for lists of known values, and no fields of runs", () => {
  expect(find("webhooks.create", "events")).toMatchObject({ widget: "checks" });
  expect(Object.keys(operations)).not.toContain("images.generate");
  expect(Object.keys(operations)).toEqual(expect.arrayContaining(["members.add", "tenants.create", "models.create"]));
});
