// The end of an error message about an unknown name in gesso.yaml.
import { nearestName } from "../contract/nearest-names.ts";

/** A suggestion, or the list of known names if it is short. */
export function suggestName(name: string, candidates: readonly string[]): string {
  const suggestion = nearestName(name, candidates);
  if (suggestion !== undefined) return `; did you mean ${suggestion}?`;
  return candidates.length <= 12 && candidates.length > 0 ? `; known names are ${candidates.join(", ")}` : "";
}
