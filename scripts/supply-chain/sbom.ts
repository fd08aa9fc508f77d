// Completes the CycloneDX document that `npm sbom` writes, reduces it to the production packages of one workspace, and
// validates it against the schema that CycloneDX publishes.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { findLicenceException, type LicencePolicy } from "./licences.ts";

type Licence = { license: { id?: string; name?: string } } | { expression: string };
type Component = { "bom-ref": string; name: string; version: string; licenses?: Licence[] };
export type Sbom = {
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
};

/**
 * npm names the project after its folder, and leaves out licences that are no SPDX identifiers. Both are corrected, so
 * that the document is the same in every clone and each component has a licence.
 */
export function completeSbom(sbom: Sbom, project: string, licences: Map<string, string>, policy: LicencePolicy): Sbom {
  const root = sbom.metadata.component;
  return {
    ...sbom,
    metadata: { ...sbom.metadata, component: { ...root, name: project } },
    components: sbom.components.map((component) => {
      if (component.licenses?.length) return component;
      const stated = licences.get(`${component.name}@${component.version}`);
      const spdx = findLicenceException(policy, component.name, stated)?.spdx;
      const licence = spdx ? { id: spdx } : { name: stated ?? "unknown" };
      return { ...component, licenses: [{ license: licence }] };
    }),
  };
}

/** Keeps the components that `keep` names as `name@version`, and the dependencies between them. */
export function selectComponents(sbom: Sbom, keep: Set<string>): Sbom {
  const components = sbom.components.filter(({ name, version }) => keep.has(`${name}@${version}`));
  const refs = new Set([sbom.metadata.component["bom-ref"], ...components.map((component) => component["bom-ref"])]);
  return {
    ...sbom,
    components,
    dependencies: sbom.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) })),
  };
}

/** Returns what the schema of CycloneDX 1.5 refuses; empty if the document is valid. */
export function findSchemaViolations(document: unknown): string[] {
  const folder = join(
    dirname(createRequire(import.meta.url).resolve("@cyclonedx/cyclonedx-library/package.json")),
    "res/schema",
  );
  const readSchema = (file: string) => JSON.parse(readFileSync(join(folder, file), "utf8"));
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  // Formats of internationalized addresses, which Ajv does not know: their values stay strings.
  ajv.addFormat("iri-reference", true).addFormat("idn-email", true);
  for (const file of ["spdx.SNAPSHOT.schema.json", "jsf-0.82.SNAPSHOT.schema.json"])
    ajv.addSchema(readSchema(file), `http://cyclonedx.org/schema/${file}`);
  const validate = ajv.compile(readSchema("bom-1.5.SNAPSHOT.schema.json"));
  if (validate(document)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
