// Sandbox profiles of isolated processes, strongest first: no network, no privileges, bounded memory, no files but
// their own, few system calls. Not every host allows all of them, so they are tried in order, and the process itself
// reports what is in effect.
import { fileURLToPath } from "node:url";
import { filteredCommand } from "./process-filter.ts";

/** The restrictions in effect, as the process itself sees them. */
export type DecoderSandboxStatus = {
  hasNetwork: boolean;
  hasPrivileges: boolean;
  /** Whether it can read the environment or the memory of the server, and with it every secret. */
  canReadServer: boolean;
  /** Whether it can read files that are not part of the server. */
  canReadFiles: boolean;
  hasSystemCallFilter: boolean;
  /** null if memory is not bounded. */
  memoryBytes: number | null;
  /** Version of the decoder library. */
  libraries: string;
};

/** What a compromised process could do, in words for an operator. Empty if the isolation is complete. */
export const listWeaknesses = (sandbox: DecoderSandboxStatus): string[] => [
  ...(sandbox.canReadServer ? ["can read the memory and environment of the server"] : []),
  ...(sandbox.hasNetwork ? ["has network access"] : []),
  ...(sandbox.hasPrivileges ? ["has the privileges of root"] : []),
  ...(sandbox.memoryBytes === null ? ["has no memory limit"] : []),
];

/** One sentence; undefined if the isolation is complete. */
export function describeIsolationProblem(sandbox: DecoderSandboxStatus | undefined): string | undefined {
  if (!sandbox) return "No process for decoding images could be started.";
  const weaknesses = listWeaknesses(sandbox);
  return weaknesses.length > 0
    ? `Processes for decoding images are not isolated: a compromised one ${weaknesses.join(", ")}.`
    : undefined;
}

/** `keepsPriority`: the process has the CPU priority of the server instead of a lower one. */
export type DecoderSandboxProfile = { name: string; command: string; arguments: string[]; keepsPriority?: boolean };

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
  /** Files and folders that the program reads, beside those of the server. */
  readable?: string[];
  keepsPriority?: boolean;
  /** A program of the host instead of Node, with its arguments. */
  command?: string[];
};

export const decoderSandboxProfiles = ({
  megabytes,
  isRoot = process.getuid?.() === 0,
  program = PROGRAM,
  programArguments = [],
  heapMegabytes = HEAP_MEGABYTES,
  readable = [],
  keepsPriority = false,
  command = [process.execPath, `--max-old-space-size=${heapMegabytes}`, program, ...programArguments],
}: DecoderSandboxOptions): DecoderSandboxProfile[] => {
  // The shell sets its own limits (no core dumps, few files, bounded memory) and then replaces itself by the program.
  const bounds = `ulimit -c 0; ulimit -n 64; ulimit -d ${(megabytes + NODE_BASELINE_MEGABYTES) * 1024}; exec "$0" "$@"`;
  const bounded = ["sh", "-c", bounds];
  // Only root can drop capabilities; other users can still set no_new_privs.
  const unprivileged = ["setpriv", "--no-new-privs", ...(isRoot ? ["--bounding-set=-all", "--inh-caps=-all"] : [])];
  const offline = isRoot ? ["unshare", "--net"] : ["unshare", "--user", "--net"];
  const filtered = filteredCommand(program, readable, command[0]);
  const profile = (name: string, ...wholeCommand: string[]): DecoderSandboxProfile => ({
    name,
    command: wholeCommand[0]!,
    arguments: wholeCommand.slice(1),
    keepsPriority,
  });
  // The user nobody may be unable to read the program files; then a profile without the user change is used.
  const users = isRoot ? [{ name: "nobody", command: AS_NOBODY }, SAME_USER] : [SAME_USER];
  const filters = filtered ? [{ name: "filtered", command: filtered }, NO_FILTER] : [NO_FILTER];
  const networks = [{ name: "offline", command: offline }, SAME_NETWORK];
  return [
    ...filters.flatMap((filter) =>
      networks.flatMap((network) =>
        users.map((user) =>
          profile(
            [network.name, user.name, filter.name].filter(Boolean).join(", ") || "unprivileged",
            ...[...network.command, ...unprivileged, ...user.command, ...bounded, ...filter.command, ...command],
          ),
        ),
      ),
    ),
    profile("bounded", ...bounded, ...command),
    profile("unrestricted", ...command),
  ];
};

const SAME_USER = { name: "", command: [] };
const SAME_NETWORK = { name: "", command: [] };
const NO_FILTER = { name: "", command: [] };
