// What a row of the threat table says. The rows are data: `scripts/generate/threats.ts` renders them, and
// `scripts/check-threats.ts` fails if a row has no control, or names a test that does not exist.

/** Titles of tests, as they stand in the file, by the path of the file from the root of the repository. */
export type TestTitles = Record<string, string[]>;

export type Threat = {
  id: `T${number}`;
  /** What an attack is after. */
  asset: string;
  /** Where an attack begins. */
  entry: string;
  threat: string;
  /** What Gesso does about the threat, or what the operator does. */
  control: string;
} & (
  | { kind: "control and test"; tests: TestTitles }
  /** The operator's configuration is the control. The reason is a line of `docs/guide/security.md`. */
  | { kind: "by configuration"; reason: string; tests?: TestTitles }
  /** Gesso has no such entry. The reason is a line of `docs/guide/security.md`, and the check verifies the fact. */
  | { kind: "not applicable"; reason: string; fact: AbsentText; tests?: TestTitles }
);

/** No file below `path` contains text that `matches`: the code has no such entry. */
export type AbsentText = { path: string; matches: RegExp };

export type ThreatSection = { title: string; threats: Threat[] };
