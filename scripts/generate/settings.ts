// The settings, as a page and as an example file: read off the schemas that the rooms and the providers declare.
import { z } from "zod";
import { environmentSchemas } from "../../server/src/config.ts";
import { providers } from "../../server/src/providers/all.ts";
import { code, GENERATED_NOTICE, page, table } from "./markdown.ts";

type Setting = { name: string; says: string; type: string; isRequired: boolean; preset: unknown };
type Group = { title: string; note?: string; settings: Setting[] };

const TITLES: Record<keyof typeof environmentSchemas, string> = {
  HttpEnv: "The API",
  DatabaseEnv: "PostgreSQL",
  EngineEnv: "Restate and the workers",
  StorageEnv: "Storage",
  CatalogueEnv: "Providers and models",
  FetchEnv: "URL fetching",
  DecoderEnv: "Image decoding",
  AccessEnv: "Access",
  ModelsEnv: "Custom models",
  LimitsEnv: "Timeouts",
  RatesEnv: "Rate limits",
  RetentionEnv: "Data retention",
  WebhookEnv: "Webhooks",
  StreamsEnv: "Streams of events",
  LogEnv: "Logging",
  MomentsEnv: "Tests",
};

type Property = { description?: string; default?: unknown; enum?: string[]; type?: string; format?: string };

function settingsOf(schema: z.ZodObject): Setting[] {
  const printed = z.toJSONSchema(schema, { unrepresentable: "any" }) as { properties?: Record<string, Property> };
  // What an empty environment is missing is what must be set.
  const missing = new Set(schema.safeParse({}).error?.issues.map((issue) => issue.path[0]));
  return Object.entries(printed.properties ?? {}).map(([name, property]) => ({
    name,
    says: property.description ?? "",
    type: property.enum?.join(", ") ?? (property.format === "uri" ? "URL" : (property.type ?? "text")),
    isRequired: missing.has(name),
    preset: property.default,
  }));
}

const groups: Group[] = [
  ...Object.entries(environmentSchemas).map(([name, schema]) => ({
    title: TITLES[name as keyof typeof environmentSchemas],
    settings: settingsOf(schema),
  })),
  ...providers.map(({ id, env }) => ({
    title: `Provider ${id}`,
    note: "The provider is enabled when all its required settings are set.",
    settings: settingsOf(env as z.ZodObject),
  })),
];

export function generateSettingsPage(): string {
  const parts = groups.map(({ title, note, settings }) => {
    const rows = settings.map(({ name, says, type, isRequired, preset }) => [
      code(name),
      type === "string" ? "text" : type,
      isRequired ? "required" : preset === undefined ? "" : code(preset),
      says,
    ]);
    const heads = ["Setting", "Type", "Default", "Description"];
    return [`## ${title}`, ...(note ? [note] : []), table(heads, rows)].join("\n\n");
  });
  const opening = "The server reads its settings from the environment, once, when it starts. Nothing else reads it.";
  return page("Settings", opening, ...parts);
}

export function generateEnvExample(): string {
  const parts = groups.map(({ title, note, settings }) => {
    const lines = settings.flatMap(({ name, says, isRequired, preset }) => [
      `# ${says}`,
      isRequired && !note ? `${name}=` : `# ${name}=${preset ?? ""}`,
    ]);
    return [`# --- ${title}${note ? `. ${note}` : ""}`, ...lines].join("\n");
  });
  return `# ${GENERATED_NOTICE}\n# Lines without # must be filled in; the others show what holds unless they are set.\n\n${parts.join("\n\n")}\n`;
}
