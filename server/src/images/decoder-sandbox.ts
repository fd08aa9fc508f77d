// Sandbox profiles of the decoder process, strongest first: no network, no privileges, bounded memory. Not every host
// allows all of them, so they are tried in order, and the process itself reports what is in effect.
import { fileURLToPath } from "node:url";

/** The restrictions in effect, as the process itself sees them. */
export type DecoderSandboxStatus = {
  hasNetwork: boolean;
  hasPrivileges: boolean;
  /** null if memory is not bounded. */
  memoryBytes: number | null;
  /** Version of the decoder library. */
  libraries: string;
};

export type DecoderSandboxProfile = { name: string; command: string; arguments: string[] };

const PROGRAM = fileURLToPath(new URL("./isolated/decoder-worker.ts", import.meta.url));
/** Pixels are outside the JavaScript heap, so a small heap is enough. */
const HEAP_MEGABYTES = 128;
/** Memory that Node reserves before the first image. Most of it is never used. */
const NODE_BASELINE_MEGABYTES = 640;
const AS_NOBODY = ["--reuid=65534", "--regid=65534", "--clear-groups"];

export type DecoderSandboxOptions = {
  /** Memory for images, in addition to what Node reserves. */
  megabytes: number;
  isRoot?: boolean;
  program?: string;
  programArguments?: string[];
  /** Limit of the JavaScript heap. */
  heapMegabytes?: number;
};

export const decoderSandboxProfiles = ({
  megabytes,
  isRoot = process.getuid?.() === 0,
  program = PROGRAM,
  programArguments = [],
  heapMegabytes = HEAP_MEGABYTES,
}: DecoderSandboxOptions): DecoderSandboxProfile[] => {
  const node = [process.execPath, `--max-old-space-size=${heapMegabytes}`, program, ...programArguments];
  // The shell sets its own limits (no core dumps, few files, bounded memory) and then replaces itself by the program.
  const bounds = `ulimit -c 0; ulimit -n 64; ulimit -d ${(megabytes + NODE_BASELINE_MEGABYTES) * 1024}; exec "$0" "$@"`;
  const bounded = ["sh", "-c", bounds, ...node];
  // Only root can drop capabilities; other users can still set no_new_privs.
  const unprivileged = ["setpriv", "--no-new-privs", ...(isRoot ? ["--bounding-set=-all", "--inh-caps=-all"] : [])];
  const offline = isRoot ? ["unshare", "--net"] : ["unshare", "--user", "--net"];
  const profile = (name: string, ...command: string[]): DecoderSandboxProfile => ({
    name,
    command: command[0]!,
    arguments: command.slice(1),
  });
  return [
    // The user nobody may be unable to read the program files; then a profile without the user change is used.
    ...(isRoot ? [profile("offline, nobody", ...offline, ...unprivileged, ...AS_NOBODY, ...bounded)] : []),
    profile("offline", ...offline, ...unprivileged, ...bounded),
    ...(isRoot ? [profile("nobody", ...unprivileged, ...AS_NOBODY, ...bounded)] : []),
    profile("unprivileged", ...unprivileged, ...bounded),
    profile("bounded", ...bounded),
    profile("unrestricted", ...node),
  ];
};
