// Generates the reference page of settings and `.env.example` from the environment schemas of modules and providers.
import { z } from "zod";
import { providers } from "../../server/src/providers/all.ts";
import { environmentSchemas } from "../../server/src/settings/config.ts";
import { code, GENERATED_NOTICE, page, table } from "./markdown.ts";

type Setting = { name: string; description: string; type: string; isRequired: boolean; defaultValue: unknown };
type Group = { title: string; note?: string; settings: Setting[] };

const TITLES: Record<keyof typeof environmentSchemas, string> = {
  HttpEnv: "API",
  DatabaseEnv: "PostgreSQL",
  EngineEnv: "Restate and workers",
  StorageEnv: "Storage",
  SpoolEnv: "Response spool",
  CatalogueEnv: "Providers and models",
  FetchEnv: "URL fetching",
  DecoderEnv: "Image decoding",
  ProvenanceEnv: "Provenance",
  AccessEnv: "Authentication",
  CustomModelsEnv: "Custom models",
  RunLimitsEnv: "Timeouts",
  RateLimitEnv: "Rate limits",
  StorageQuotaEnv: "Storage quota",
  RetentionEnv: "Data retention",
  WebhookEnv: "Webhooks",
  EventStreamsEnv: "Event streams",
  LogEnv: "Logging",
  MetricsEnv: "Metrics",
  TracingEnv: "Traces",
  ConnectEnv: "Development",
  CrashPointEnv: "Tests",
};

type Property = { description?: string; default?: unknown; enum?: string[]; type?: string; format?: string };

function settingsOf(schema: z.ZodObject): Setting[] {
  const jsonSchema = z.toJSONSchema(schema, { unrepresentable: "any" }) as { properties?: Record<string, Property> };
  // A setting is required if an empty environment fails without it.
  const missing = new Set(schema.safeParse({}).error?.issues.map((issue) => issue.path[0]));
  return Object.entries(jsonSchema.properties ?? {}).map(([name, property]) => ({
    name,
    description: property.description ?? "",
    type: property.enum?.join(", ") ?? (property.format === "uri" ? "URL" : (property.type ?? "text")),
    isRequired: missing.has(name),
    defaultValue: property.default,
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
    const rows = settings.map(({ name, description, type, isRequired, defaultValue }) => [
      code(name),
      type === "string" ? "text" : type,
      isRequired ? "required" : defaultValue === undefined ? "" : code(defaultValue),
      description,
    ]);
    const heads = ["Setting", "Type", "Default", "Description"];
    return [`## ${title}`, ...(note ? [note] : []), table(heads, rows)].join("\n\n");
  });
  const opening =
    "Gesso reads its settings from environment variables, once at start. Change a setting and restart to apply it.";
  const files =
    "Every setting can also be read from a file: set its name with `_FILE` to the path, for example " +
    "`GESSO_SECRET_FILE=/run/secrets/gesso_secret`. Line breaks at the end of the file are ignored. Gesso does not start if " +
    "a setting and its file are both set, or if the file is empty or cannot be read.";
  return page("Settings", opening, files, ...parts);
}

export function generateEnvExample(): string {
  const parts = groups.map(({ title, note, settings }) => {
    const lines = settings.flatMap(({ name, description, isRequired, defaultValue }) => [
      `# ${description}`,
      isRequired && !note ? `${name}=` : `# ${name}=${defaultValue ?? ""}`,
    ]);
    return [`# --- ${title}${note ? `. ${note}` : ""}`, ...lines].join("\n");
  });
  return `# ${GENERATED_NOTICE}\n# Fill in the lines without #. The other lines show the default of each setting.\n\n${parts.join("\n\n")}\n`;
}
