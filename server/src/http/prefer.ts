// What the caller prefers (RFC 7240): to wait, to hear little, to have misfits refused.
export type Preferences = { waitSeconds?: number; isMinimal: boolean; isStrict: boolean };

export function parsePreferHeader(header: string | undefined): Preferences {
  const words = (header ?? "").split(",").map((word) => word.trim().toLowerCase());
  const wait = words.map((word) => /^wait=(\d{1,4})$/.exec(word)?.[1]).find(Boolean);
  return {
    ...(wait && { waitSeconds: Number(wait) }),
    isMinimal: words.includes("return=minimal"),
    isStrict: words.includes("handling=strict"),
  };
}
