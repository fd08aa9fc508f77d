// Generates everything that is derived from the code: the OpenAPI contract, the reference pages, the example of
// settings, the types of SQL statements and the schema. With `--check` it writes nothing and fails if a generated file
// is out of date.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { generateOpenApi } from "../server/src/contract/openapi.ts";
import { operations } from "../server/src/operations/all.ts";
import { generateAlertRules, generateAlertsPage, generateAlertTests } from "./generate/alerts.ts";
import { generateApiReference } from "./generate/api-reference.ts";
import { generateCliOperations } from "./generate/cli-operations.ts";
import { generateClient } from "./generate/client.ts";
import { generateConsoleOperations } from "./generate/console-operations.ts";
import { generateDashboards } from "./generate/dashboards.ts";
import { generateErrorsPage } from "./generate/errors.ts";
import { generateManagementForms } from "./generate/management-forms.ts";
import { generateMetricsPage } from "./generate/metrics.ts";
import { generateOpenApiFile } from "./generate/openapi-file.ts";
import { generateParameterSupport } from "./generate/parameter-support.ts";
import { generateProviderList } from "./generate/provider-list.ts";
import { generateProviderOffers } from "./generate/provider-offers.ts";
import { generatePublishedModels } from "./generate/published-models.ts";
import { generatePythonClient } from "./generate/python-client.ts";
import { generateEnvExample, generateSettingsPage } from "./generate/settings.ts";
import { generateFromDatabase } from "./generate/sql-statements.ts";
import { generateThreatsPage } from "./generate/threats.ts";

const contract = generateOpenApi(operations);
const providerList = generateProviderList();
const fromDatabase = await generateFromDatabase().catch((error: Error) => {
  console.log(error.message);
  process.exit(1);
});

const GENERATED_FILES: Record<string, string> = {
  "api/openapi.json": generateOpenApiFile(contract),
  "docs/reference/api.md": generateApiReference(contract),
  "docs/reference/errors.md": generateErrorsPage(),
  "docs/reference/metrics.md": generateMetricsPage(),
  "docs/reference/settings.md": generateSettingsPage(),
  "dev/src/generated/providers.json": providerList,
  "docs/reference/provider-offers.md": generateProviderOffers(),
  "docs/reference/published-models.md": await generatePublishedModels(),
  "docs/reference/threats.md": generateThreatsPage(),
  "docs/reference/parameters.md": generateParameterSupport(),
  "docs/guide/alerts.md": generateAlertsPage(),
  "deploy/monitoring/alerts.yaml": generateAlertRules(),
  "deploy/monitoring/alerts.test.yaml": generateAlertTests(),
  ".env.example": generateEnvExample(),
  ...fromDatabase,
  "console/src/generated/operations.json": generateConsoleOperations(contract),
  "console/src/generated/providers.json": providerList,
  "console/src/generated/management.json": generateManagementForms(contract),
  "cli/src/generated/operations.json": generateCliOperations(contract),
  ...generateClient(contract),
  ...generatePythonClient(contract),
  ...generateDashboards(),
};

/** From the commands of the CLI, which read another generated file: it is written before. */
const COMPLETION_FILE = "cli/src/generated/completion.json";

const isStale = (path: string) => !existsSync(path) || readFileSync(path, "utf8") !== GENERATED_FILES[path];
const isCheck = process.argv.includes("--check");
const stale = Object.keys(GENERATED_FILES).filter(isStale);
if (!isCheck) for (const path of stale) write(path);
const { generateCliCompletion } = await import("./generate/cli-completion.ts");
GENERATED_FILES[COMPLETION_FILE] = await generateCliCompletion();
if (isStale(COMPLETION_FILE)) stale.push(COMPLETION_FILE);

if (isCheck) {
  if (stale.length > 0) console.log(`Generated files are out of date. Run npm run generate:\n${stale.join("\n")}`);
  process.exit(stale.length > 0 ? 1 : 0);
}
write(COMPLETION_FILE);
console.log(stale.length > 0 ? `Generated ${stale.join(", ")}` : "All generated files are up to date.");

function write(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, GENERATED_FILES[path] ?? "");
}
