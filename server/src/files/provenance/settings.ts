// The settings of provenance, and what is wrong with them in sentences for the operator.
import { z } from "zod";
import { type CertificateChain, readChains, splitCertificates } from "./certificate-chains.ts";

export const PROVENANCE_MODES = ["off", "mark", "sign"] as const;
export type ProvenanceMode = (typeof PROVENANCE_MODES)[number];

const pem = (description: string) => z.string().min(1).optional().describe(description);

export const ProvenanceEnv = z.object({
  PROVENANCE: z
    .enum(PROVENANCE_MODES)
    .optional()
    .describe(
      "How outputs say what made them. off: not at all. mark: with metadata. sign: also with a signed C2PA manifest. " +
        "Default: sign if PROVENANCE_CERTIFICATE is set, mark otherwise",
    ),
  PROVENANCE_CERTIFICATE: pem(
    "Certificates that sign C2PA manifests, with the chain up to the root, in PEM format. Several chains for a rotation",
  ),
  PROVENANCE_KEY: pem("Private keys of PROVENANCE_CERTIFICATE, in PEM format"),
  PROVENANCE_SIGN_COMMAND: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Program that signs with a key that Gesso does not have: bytes on standard input, signature on standard output",
    ),
  PROVENANCE_SIGN_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      "URL that signs with a key that Gesso does not have: bytes as the body of a POST request, signature as the response",
    ),
  PROVENANCE_SIGN_TOKEN: z.string().min(1).optional().describe("Bearer token for PROVENANCE_SIGN_URL"),
  PROVENANCE_TRUST_ANCHORS: pem("Further root certificates that verification trusts, in PEM format"),
  PROVENANCE_PROCESSES: z.coerce
    .number()
    .int()
    .min(1)
    .max(64)
    .default(2)
    .describe("Number of isolated processes that write and read C2PA manifests"),
});
export type ProvenanceSettings = z.output<typeof ProvenanceEnv>;

export const defaultMode = ({ PROVENANCE, PROVENANCE_CERTIFICATE }: ProvenanceSettings): ProvenanceMode =>
  PROVENANCE ?? (PROVENANCE_CERTIFICATE === undefined ? "mark" : "sign");

type SettingProblem = { name: keyof ProvenanceSettings; message: string };

const KEY_SOURCES = ["PROVENANCE_KEY", "PROVENANCE_SIGN_COMMAND", "PROVENANCE_SIGN_URL"] as const;

/** A problem never contains a part of a key. */
export function findProvenanceProblems(settings: ProvenanceSettings): SettingProblem[] {
  const { PROVENANCE, PROVENANCE_CERTIFICATE, PROVENANCE_TRUST_ANCHORS = "" } = settings;
  const keySources = KEY_SOURCES.filter((name) => settings[name] !== undefined);
  const problems: SettingProblem[] = [];
  if (PROVENANCE_CERTIFICATE === undefined) {
    if (PROVENANCE === "sign") problems.push({ name: "PROVENANCE", message: "sign needs PROVENANCE_CERTIFICATE" });
    for (const name of keySources) problems.push({ name, message: "set without PROVENANCE_CERTIFICATE" });
  } else if (keySources.length !== 1) {
    const message = `needs exactly one of ${KEY_SOURCES.join(", ")}`;
    problems.push({ name: "PROVENANCE_CERTIFICATE", message });
  } else problems.push(...problemOf("PROVENANCE_CERTIFICATE", () => readSigningChains(settings)));
  problems.push(...problemOf("PROVENANCE_TRUST_ANCHORS", () => splitCertificates(PROVENANCE_TRUST_ANCHORS)));
  return problems;
}

function problemOf(name: SettingProblem["name"], read: () => unknown): SettingProblem[] {
  try {
    read();
    return [];
  } catch (thrown) {
    return [{ name, message: (thrown as Error).message }];
  }
}

/** Empty if no certificate is set. */
export const readSigningChains = (settings: ProvenanceSettings): CertificateChain[] =>
  settings.PROVENANCE_CERTIFICATE === undefined
    ? []
    : readChains(settings.PROVENANCE_CERTIFICATE, settings.PROVENANCE_KEY);
