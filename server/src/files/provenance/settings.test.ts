import { createCertificateChain } from "@gesso/dev/certificate-chain";
import { expect, test } from "vitest";
import { defaultMode, findProvenanceProblems, ProvenanceEnv } from "./settings.ts";

const chain = await createCertificateChain({ name: "Settings" });

test("outputs are signed with a certificate, marked without one, and as they are only if the operator says so", () => {
  const modeOf = (env: Record<string, string>) => defaultMode(ProvenanceEnv.parse(env));
  expect(modeOf({})).toBe("mark");
  expect(modeOf({ PROVENANCE_CERTIFICATE: chain.certificate, PROVENANCE_KEY: chain.key })).toBe("sign");
  expect(modeOf({ PROVENANCE: "off" })).toBe("off");
  expect(modeOf({ PROVENANCE: "mark", PROVENANCE_CERTIFICATE: chain.certificate, PROVENANCE_KEY: chain.key })).toBe(
    "mark",
  );
});

test("settings that do not fit together are found, without a part of the key", async () => {
  const problemsOf = (env: Record<string, string>) => findProvenanceProblems(ProvenanceEnv.parse(env));
  expect(problemsOf({})).toEqual([]);
  expect(problemsOf({ PROVENANCE: "sign" })).toMatchObject([{ name: "PROVENANCE" }]);
  expect(problemsOf({ PROVENANCE_KEY: chain.key })).toMatchObject([{ name: "PROVENANCE_KEY" }]);
  expect(problemsOf({ PROVENANCE_CERTIFICATE: chain.certificate })).toMatchObject([{ name: "PROVENANCE_CERTIFICATE" }]);
  const other = await createCertificateChain({ name: "Other" });
  const [problem] = problemsOf({ PROVENANCE_CERTIFICATE: chain.certificate, PROVENANCE_KEY: other.key });
  expect(problem?.message).toContain("belongs to a key");
  expect(JSON.stringify(problem)).not.toContain(other.key.split("\n")[1]!);
});
