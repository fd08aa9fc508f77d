import { expect, it } from "vitest";
import { buildSystemCallFilter } from "./system-call-filter.ts";

const MACHINES = {
  x64: { audit: 0xc000003e, kill: 62, tgkill: 234, clone: 56, read: 0, socket: 41 },
  arm64: { audit: 0xc00000b7, kill: 129, tgkill: 131, clone: 220, read: 63, socket: 198 },
};
const [ALLOW, EPERM, ENOSYS, KILL] = [0x7fff0000, 0x00050001, 0x00050026, 0x80000000];

type Call = { number: number; machine: number; argument?: number };

/** Runs the byte code as the kernel does: loads, three jumps and a result. */
function judge(program: Buffer, { number, machine, argument = 0 }: Call): number {
  const words: Record<number, number> = { 0: number, 4: machine, 16: argument };
  let value = 0;
  for (let at = 0; ; at += 8) {
    const [code, ifTrue, ifFalse] = [program.readUInt16LE(at), program[at + 2]!, program[at + 3]!];
    const constant = program.readUInt32LE(at + 4);
    if (code === 0x06) return constant;
    if (code === 0x20) value = words[constant]!;
    else {
      const isTrue = { 21: value === constant, 53: value >= constant, 69: (value & constant) !== 0 }[code];
      if (isTrue === undefined) throw new Error(`unknown instruction ${code}`);
      at += 8 * (isTrue ? ifTrue : ifFalse);
    }
  }
}

it.each(["x64", "arm64"] as const)(
  "on %s, signals, sockets and new processes are denied; reading and threads are not",
  (name) => {
    const { audit: machine, ...numbers } = MACHINES[name];
    const program = Buffer.from(buildSystemCallFilter(name)!, "hex");
    const results = (["kill", "tgkill", "socket", "clone", "read"] as const).map((call) =>
      judge(program, { number: numbers[call], machine }),
    );
    expect(results).toEqual([EPERM, EPERM, EPERM, EPERM, ALLOW]);
    expect(judge(program, { number: numbers.clone, machine, argument: 0x10000 })).toBe(ALLOW);
    expect(judge(program, { number: 435, machine })).toBe(ENOSYS);
    expect(judge(program, { number: numbers.read, machine: 1 })).toBe(KILL);
  },
);
