// Lists every setting of the server with its parsed value and its source, for `gesso config print`. Secrets are
// replaced before anything leaves this file.
import type { z } from "zod";
import { loadCatalogue } from "../catalogue/load-catalogue.ts";
import { providers } from "../providers/all.ts";
import { environmentSchemas, inspectConfiguration, readEnvironment } from "./config.ts";

/** `value` is null if the setting has none. `problem`: why the server refuses the value, or that it needs one. */
export type ListedSetting = { name: string; value: unknown; source: string; problem?: string };
export type ConfigurationListing = { settings: ListedSetting[]; problems: string[] };

type Environment = Record<string, string | undefined>;
const REDACTED = "[redacted]";
const SECRET_SETTING = /KEY|SECRET|TOKEN|PASSWORD|OTLP_HEADERS/;
/** Fields inside a setting, such as `client_secret`. Others, such as `token_types`, only mention one. */
const SECRET_FIELD = /(?:^|_)(?:key|secret|token|password)s?$/i;

/** `devSettings`: names of the variables that `gesso dev` has set, not the operator. */
export function listConfiguration(devSettings: readonly string[], environment?: Environment): ConfigurationListing {
  const { environment: env, files, problems: fileProblems } = readEnvironment(environment);
  const report = inspectConfiguration(env);
  const sourceOf = (name: string) =>
    files.get(name) ?? (env[name] === undefined ? "default" : devSettings.includes(name) ? "gesso dev" : "environment");
  const listSchema = (schema: z.ZodObject): ListedSetting[] =>
    Object.entries(schema.shape).map(([name, field]) => {
      const parsed = (field as z.ZodType).safeParse(env[name]);
      const problem = env[name] === undefined ? "required" : parsed.error?.issues[0]?.message;
      const value = parsed.success ? redact(name, parsed.data ?? null) : null;
      return { name, value, source: sourceOf(name), ...(!parsed.success && problem !== undefined && { problem }) };
    });
  const unique = new Map(
    [...Object.values(environmentSchemas), ...providers.map(({ env: schema }) => schema as z.ZodObject)]
      .flatMap(listSchema)
      // A setting that only one provider requires is not required of the server.
      .map(({ problem, ...setting }) => [
        setting.name,
        problem === "required" && isProviderSetting(setting.name)
          ? setting
          : { ...setting, ...(problem && { problem }) },
      ]),
  );
  return {
    settings: [...unique.values(), ...listProviders(report), ...listCatalogue(report.catalogue.path)],
    problems: [...fileProblems.values(), ...report.catalogue.problems],
  };
}

const serverSettings = new Set(Object.values(environmentSchemas).flatMap(({ shape }) => Object.keys(shape)));
const isProviderSetting = (name: string) => !serverSettings.has(name);

type Report = ReturnType<typeof inspectConfiguration>;

/** Whether each provider is on. The source is what turned it on or off. */
function listProviders({ enabledProviders, disabledProviders, catalogue }: Report): ListedSetting[] {
  const { file } = loadCatalogue(catalogue.path, false);
  const sourceOf = (id: string) =>
    file.providers.some((each) => each.id === id && each.settings.enabled !== undefined)
      ? catalogue.path
      : "environment";
  return [
    ...enabledProviders.map(({ provider: { id, env } }) => ({
      ...{ name: `providers.${id}`, value: "on" },
      source: env.safeParse({}).success && sourceOf(id) === "environment" ? "default" : sourceOf(id),
    })),
    ...disabledProviders.map(({ provider: { id }, reason, isMisconfigured }) => ({
      ...{ name: `providers.${id}`, value: "off" },
      source: sourceOf(id) === "environment" && !isMisconfigured ? "default" : sourceOf(id),
      ...(isMisconfigured && { problem: reason }),
    })),
  ];
}

/** What the operator's file changes: settings of providers, and the entries of models. */
function listCatalogue(path: string): ListedSetting[] {
  const { file } = loadCatalogue(path, false);
  const list = (prefix: string, settings: object) =>
    Object.entries(settings).map(([key, value]) => ({
      ...{ name: `${prefix}.${key}`, value: redact(key, value as unknown), source: path },
    }));
  return [
    ...file.providers.flatMap(({ id, settings: { enabled: _, ...others } }) => list(`providers.${id}`, others)),
    ...file.models.flatMap(({ model, entries }) =>
      entries.flatMap(({ entry }, index) => list(`models.${model}.${index}`, entry)),
    ),
  ];
}

/** Also inside lists, objects and URLs. Numbers and switches are never secret. */
function redact(name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => redact(name, each));
  if (value instanceof RegExp) return String(value);
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, redact(key, each)]));
  if (typeof value !== "string" || value === "") return value;
  if (SECRET_SETTING.test(name) || SECRET_FIELD.test(name)) return REDACTED;
  return value.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/?#@]*:)[^/?#@]*@/i, `$1${REDACTED}@`);
}

/** One setting per line: the name, the value and, with `isWithSources`, where the value comes from. */
export function renderListing({ settings }: ConfigurationListing, isWithSources: boolean): string {
  const rows = settings.map(({ name, value, source, problem }) => ({
    name,
    text: problem === undefined ? renderValue(value) : problem === "required" ? "(required)" : `(invalid: ${problem})`,
    source,
  }));
  const width = Math.max(...rows.map(({ name }) => name.length));
  const sourceWidth = Math.max(...rows.map(({ source }) => source.length));
  return rows
    .map(({ name, text, source }) =>
      isWithSources ? `${name.padEnd(width)}  ${source.padEnd(sourceWidth)}  ${text}` : `${name}=${text}`,
    )
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}

const renderValue = (value: unknown): string => {
  if (value === null || value === undefined) return "(not set)";
  if (typeof value === "string") return value.replace(/\p{C}+/gu, " ");
  return Array.isArray(value) && value.every((each) => typeof each !== "object")
    ? value.join(",")
    : JSON.stringify(value);
};
