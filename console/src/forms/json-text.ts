// Reads JSON from text: any value, or only an object. Undefined for anything else.
export function parseJson(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    return undefined;
  }
}

export function parseJsonObject(given: string): Record<string, unknown> | undefined {
  const value = parseJson(given);
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}
