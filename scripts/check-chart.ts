// Checks the Helm chart without a cluster: helm lint, templates with every values file, the fields of every object
// against the types of Kubernetes, and unit tests. Proves first that a misspelt field is found. Needs Go. With
// `--build`, it only builds its tools.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { writeKubernetesSchemas } from "./chart/kubernetes-schemas.ts";
import { buildTools } from "./chart/tools.ts";

const CHART = "deploy/chart";
/** Objects of operators, whose types Kubernetes does not have. */
const OTHER_KINDS = ["ServiceMonitor", "RestateDeployment"];
/** Lowest and newest version. helm itself knows no cluster here. */
const KUBERNETES = ["1.28.0", "1.37.0"];

const tools = buildTools();
const folder = mkdtempSync(join(tmpdir(), "gesso-chart-"));
const valuesFiles = [CHART, `${CHART}/tests/values`].flatMap((path) =>
  readdirSync(path)
    .filter((name) => /^values-.+\.yaml$/.test(name))
    .map((name) => join(path, name)),
);

function checkVersions(): string {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  const chart = parseAllDocuments(readFileSync(join(CHART, "Chart.yaml"), "utf8"))[0]!.toJS();
  if (chart.version !== version || chart.appVersion !== version)
    throw new Error(`Chart.yaml has ${chart.version} and ${chart.appVersion}, package.json has ${version}`);
  return version;
}

/** Returns the problems that kubeconform reports. */
function findProblems(file: string): string {
  const location = `${folder}/schemas/{{ .ResourceKind }}{{ .KindSuffix }}.json`;
  const options = ["-strict", "-summary", "-skip", OTHER_KINDS.join(","), "-schema-location", location, file];
  const { status, stdout, stderr } = spawnSync(tools.kubeconform, options, { encoding: "utf8" });
  return status === 0 ? "" : stdout + stderr;
}

function main(): void {
  const version = checkVersions();
  let objects = 0;
  const kinds = new Set<string>();
  const rendered = valuesFiles.flatMap((values) => {
    execFileSync(tools.helm, ["lint", "--strict", "--kube-version", KUBERNETES[0]!, CHART, "-f", values]);
    return KUBERNETES.map((kubernetes, index) => {
      const template = ["template", "gesso", CHART, "--namespace", "gesso", "--kube-version", kubernetes, "-f", values];
      const text = execFileSync(tools.helm, template, { encoding: "utf8" });
      const documents = parseAllDocuments(text).map((document) => document.toJS());
      for (const { kind } of documents) kinds.add(kind);
      objects += documents.length;
      const file = join(folder, `${values.replaceAll("/", "_")}-${index}.yaml`);
      writeFileSync(file, text);
      return file;
    });
  });
  writeKubernetesSchemas(tools.clientGoFolder, join(folder, "schemas"), kinds);
  const planted = join(folder, "planted.yaml");
  writeFileSync(planted, readFileSync(rendered[0]!, "utf8").replace("readinessProbe:", "readynessProbe:"));
  if (!findProblems(planted).includes("readynessProbe")) throw new Error("a misspelt field is not found");
  const problems = rendered.map(findProblems).join("");
  if (problems) throw new Error(problems);
  const tests = spawnSync(tools.unittest, [CHART], { encoding: "utf8" });
  if (tests.status !== 0) throw new Error(tests.stdout + tests.stderr);
  const count = /Tests:\s+(.*)/.exec(tests.stdout)?.[1];
  process.stdout.write(
    `chart ${version}: ${valuesFiles.length} values files linted and rendered for Kubernetes ${KUBERNETES.join(" and ")}, ` +
      `${objects} objects of ${kinds.size} kinds without unknown fields (not checked: ${OTHER_KINDS.join(", ")}), ` +
      `a planted readynessProbe found, unit tests: ${count}\n`,
  );
}

try {
  if (!process.argv.includes("--build")) main();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
