// The oldest version of the decoding library (libvips) that Gesso starts with. Older ones have known faults in the
// loaders of the formats that Gesso accepts.

const OLDEST_VERSION = [8, 18];

/** What is wrong with the version that the decoder process reports; undefined if nothing is, or no process started. */
export function findLibraryProblem(version: string | undefined): string | undefined {
  if (version === undefined) return undefined;
  const [major = Number.NaN, minor = Number.NaN] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_VERSION as [number, number];
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `The image library libvips has version ${version || "unknown"}. Install ${OLDEST_VERSION.join(".")} or newer.`;
}
