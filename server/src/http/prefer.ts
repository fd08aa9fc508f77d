// Parses the Prefer header (RFC 7240): `wait=n`, `return=minimal`, `handling=strict`.
export type Preferences = { waitSeconds?: number; isMinimal: boolean; isStrict: boolean };

export function parsePreferHeader(header: string | undefined): Preferences {
  const preferences = (header ?? "").split(",").map((preference) => preference.trim().toLowerCase());
  const wait = preferences.map((preference) => /^wait=(\d{1,4})$/.exec(preference)?.[1]).find(Boolean);
  return {
    ...(wait && { waitSeconds: Number(wait) }),
    isMinimal: preferences.includes("return=minimal"),
    isStrict: preferences.includes("handling=strict"),
  };
}
