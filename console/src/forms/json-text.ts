// Reads a JSON object from text; undefined for anything else.
export function parseJsonObject(given: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(given);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
