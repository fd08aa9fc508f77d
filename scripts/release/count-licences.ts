// Counts the licences in a CycloneDX document, most frequent first. Restate's Business Source License is named with the
// packages that have it, because it is no open-source licence.
import { readFileSync } from "node:fs";

type Licence = { license?: { id?: string; name?: string }; expression?: string };
type Document = { components: { name: string; licenses?: Licence[] }[] };

export function countLicences(file: string): string {
  const { components } = JSON.parse(readFileSync(file, "utf8")) as Document;
  const packages = new Map<string, string[]>();
  for (const { name, licenses = [] } of components) {
    const licence = licenses.map(({ license, expression }) => expression ?? license?.id ?? license?.name).join(" AND ");
    packages.set(licence, [...(packages.get(licence) ?? []), name]);
  }
  return [...packages]
    .sort(([, one], [, other]) => other.length - one.length)
    .map(([licence, names]) => `${licence} ${names.length}${licence === "BUSL-1.1" ? ` (${names.join(", ")})` : ""}`)
    .join(", ");
}
