// Times between the form of the API (UTC) and that of an input (the reader's time zone, to the minute).
export function toLocalInput(iso: unknown): string {
  const time = typeof iso === "string" ? new Date(iso) : undefined;
  if (!time || Number.isNaN(time.getTime())) return "";
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Undefined for an empty or half-typed time. */
export function fromLocalInput(words: string): string | undefined {
  const time = new Date(words);
  return words === "" || Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
