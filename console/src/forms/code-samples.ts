// The request of a form as code to copy. Samples name the API key's variable, never a key.
import type { FormValues } from "./form-values.ts";
import type { OperationForm } from "./operation-forms.ts";

export const CODE_LANGUAGES = ["typescript", "curl"] as const;
export type CodeLanguage = (typeof CODE_LANGUAGES)[number];

type SampleRequest = { form: Pick<OperationForm, "name" | "path">; input: FormValues; origin: string };

/** A text as one word of a POSIX shell, whatever characters it has. */
export const quoteForShell = (value: string): string => `'${value.replaceAll("'", String.raw`'\''`)}'`;

const isName = (field: string) => /^[A-Za-z_$][\w$]*$/.test(field);

/** A value as TypeScript. JSON is TypeScript, but names without quotes read better. */
export function toTypeScript(value: unknown, indent = ""): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map((each) => toTypeScript(each, inner))
    : Object.entries(value).map(
        ([name, each]) => `${isName(name) ? name : JSON.stringify(name)}: ${toTypeScript(each, inner)}`,
      );
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (lines.length === 0) return open + close;
  return `${open}\n${lines.map((line) => `${inner}${line},\n`).join("")}${indent}${close}`;
}

export function sampleOf(language: CodeLanguage, { form, input, origin }: SampleRequest): string {
  if (language === "typescript") {
    return [
      'import { createClient } from "@gesso/client";',
      "",
      `const client = createClient({ baseUrl: ${JSON.stringify(origin)} });`,
      `const run = await client.${form.name}(${toTypeScript(input)}).wait();`,
      "",
    ].join("\n");
  }
  return [
    `curl ${quoteForShell(`${origin}${form.path}`)} \\`,
    '  -H "Authorization: Bearer $GESSO_API_KEY" \\',
    "  -H 'Content-Type: application/json' \\",
    `  -d ${quoteForShell(JSON.stringify(input, null, 2))}`,
    "",
  ].join("\n");
}
