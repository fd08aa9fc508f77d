// Sandbox profiles of the decoder process, strongest first: no network, no privileges, bounded memory. Not every host allows all of
// them, so they are tried in order, and the process itself reports what is in effect.
import { fileURLToPath } from "node:url";

/** What holds, as the process sees it from inside. */
export type DecoderSandboxStatus = {
  hasNetwork: boolean;
  hasPrivileges: boolean;
  /** Null where memory is not bounded. */
  memoryBytes: number | null;
  /** The version of the library that decodes. */
  libraries: string;
};

export type DecoderSandboxProfile = { name: string; command: string; arguments: string[] };

const PROGRAM = fileURLToPath(new URL("./decoder-worker.ts", import.meta.url));
/** Pictures lie outside of JavaScript's memory; their handles need little. */
const heapMegabytes = 128;
/** What Node itself claims before the first picture, nearly all of it never used. */
const NODE_BASELINE_MEGABYTES = 640;
const nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];

export type DecoderSandboxOptions = {
  /** How much memory pictures may take, beyond what Node itself claims. */
  megabytes: number;
  isRoot?: boolean;
  program?: string;
};

export const decoderSandboxProfiles = ({
  megabytes,
  isRoot = process.getuid?.() === 0,
  program = PROGRAM,
}: DecoderSandboxOptions): DecoderSandboxProfile[] => {
  const node = [process.execPath, `--max-old-space-size=${heapMegabytes}`, program];
  // The shell only sets the bounds of itself and then becomes the program: no core dumps, few files, so much memory.
  const bounds = `ulimit -c 0; ulimit -n 64; ulimit -d ${(megabytes + NODE_BASELINE_MEGABYTES) * 1024}; exec "$0" "$@"`;
  const bounded = ["sh", "-c", bounds, ...node];
  // Only root has rights to give away; anybody else can still promise never to gain any.
  const powerless = ["setpriv", "--no-new-privs", ...(isRoot ? ["--bounding-set=-all", "--inh-caps=-all"] : [])];
  const offline = isRoot ? ["unshare", "--net"] : ["unshare", "--user", "--net"];
  const cell = (name: string, ...words: string[]): DecoderSandboxProfile => ({
    name,
    command: words[0]!,
    arguments: words.slice(1),
  });
  return [
    // As nobody it cannot even read our files, so where ours are not for everyone it stays who we are.
    ...(isRoot ? [cell("offline, nobody", ...offline, ...powerless, ...nobody, ...bounded)] : []),
    cell("offline", ...offline, ...powerless, ...bounded),
    ...(isRoot ? [cell("nobody", ...powerless, ...nobody, ...bounded)] : []),
    cell("powerless", ...powerless, ...bounded),
    cell("bounded", ...bounded),
    cell("bare", ...node),
  ];
};
