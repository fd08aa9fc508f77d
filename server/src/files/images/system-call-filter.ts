// The seccomp program of isolated processes: no sockets, no other processes and no signals to them, no debugging, no
// mounts. It is the same byte code that any seccomp library would write; Node has no function to install it, so
// `process-filter.ts` does.

/** x64 and arm64 number system calls differently. `fork` and `vfork` exist only on x64. */
const DENIED_CALLS: Record<string, [x64: number | undefined, arm64: number | undefined]> = {
  socket: [41, 198],
  connect: [42, 203],
  bind: [49, 200],
  listen: [50, 201],
  accept: [43, 202],
  accept4: [288, 242],
  fork: [57, undefined],
  vfork: [58, undefined],
  kill: [62, 129],
  tkill: [200, 130],
  tgkill: [234, 131],
  rt_sigqueueinfo: [129, 138],
  rt_tgsigqueueinfo: [297, 240],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_open: [434, 434],
  pidfd_getfd: [438, 438],
  pidfd_send_signal: [424, 424],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  unshare: [272, 97],
  setns: [308, 268],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  init_module: [175, 105],
  delete_module: [176, 106],
  finit_module: [313, 273],
  kexec_load: [246, 104],
};

const MACHINES = {
  x64: { column: 0, audit: 0xc000003e, clone: 56 },
  arm64: { column: 1, audit: 0xc00000b7, clone: 220 },
} as const;
const CLONE3 = 435;
const CLONE_THREAD = 0x10000;
/** The bit of the second x64 interface, whose calls have other numbers. */
const X32 = 0x40000000;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;

/** Offsets in the kernel's description of a call: its number, the machine, the low half of the first argument. */
const NUMBER = 0;
const MACHINE = 4;
const FIRST_ARGUMENT = 16;

type Instruction = [code: number, jumpIfTrue: number, jumpIfFalse: number, value: number];
const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const end = (result: number): Instruction => [0x06, 0, 0, result];
/** The next instruction runs if the value is equal; otherwise it is skipped. */
const whenEqual = (value: number, then: Instruction): Instruction[] => [[0x15, 0, 1, value], then];

/** The byte code as hexadecimal text; undefined on another machine. */
export function buildSystemCallFilter(machine: string = process.arch): string | undefined {
  if (machine !== "x64" && machine !== "arm64") return undefined;
  const { column, audit, clone } = MACHINES[machine];
  const denied = Object.values(DENIED_CALLS).flatMap((numbers) => numbers[column] ?? []);
  const program: Instruction[] = [
    load(MACHINE),
    [0x15, 1, 0, audit],
    end(KILL),
    load(NUMBER),
    [0x35, 0, 1, X32],
    end(EPERM),
    ...denied.flatMap((number) => whenEqual(number, end(EPERM))),
    // The C library uses `clone` instead if `clone3` does not exist. A filter cannot read the flags of `clone3`.
    ...whenEqual(CLONE3, end(ENOSYS)),
    // Threads are allowed, other processes are not.
    [0x15, 0, 4, clone],
    load(FIRST_ARGUMENT),
    [0x45, 0, 1, CLONE_THREAD],
    end(ALLOW),
    end(EPERM),
    end(ALLOW),
  ];
  return Buffer.concat(program.map(encodeInstruction)).toString("hex");
}

function encodeInstruction([code, jumpIfTrue, jumpIfFalse, value]: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(jumpIfTrue, 2);
  bytes.writeUInt8(jumpIfFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
