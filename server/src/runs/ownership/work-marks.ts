// Marks on the worker's disk of the runs that each process is working on. They outlive the process: a process that
// shares the directory reads from them which runs a dead one was working on.
//
// Marks are not synced to the disk. They must survive the process and not the machine: if the machine crashes, none of
// the runs is to blame. A healthy run therefore costs two small file operations, and no statement in PostgreSQL. A
// process is asked through its socket whether it lives, so neither a suspension nor a clock makes it count as dead.
import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { ProcessSockets } from "../../outbound/process-sockets.ts";

/** `isApart`: a known suspect, and the only one that its process worked on. */
export type WorkMark = { run_id: string; isApart: boolean };
/** `name`: of the directory with the marks of the process, which was called `process`. */
export type DeadProcess = { name: string; process: string; marks: WorkMark[] };

export type WorkMarks = {
  /** Does nothing if other processes could not ask whether this one lives. */
  add(mark: WorkMark): Promise<void>;
  remove(runId: string): Promise<void>;
  /** Whether another process, alive or dead, is marked as working on the run. */
  isMarkedElsewhere(runId: string): Promise<boolean>;
  /**
   * Processes that have died. Each is handed to one process only, which forgets it afterwards; if that one dies too, to
   * the next.
   */
  takeDead(): Promise<DeadProcess[]>;
  forget(name: string): Promise<void>;
  /** Removes the marks of this process. */
  close(): Promise<void>;
};

const MARKS_DIRECTORY = "marks";
const APART_SUFFIX = ".apart";
const TAKEN_BY = "~";

export function createWorkMarks(
  { SPOOL_DIR }: { SPOOL_DIR: string },
  { name: ownName, isAlive }: Pick<ProcessSockets, "name" | "isAlive">,
): WorkMarks {
  const directory = resolve(SPOOL_DIR, MARKS_DIRECTORY);
  const own = join(directory, ownName);
  /** Names that this process has taken from others. */
  const taken = new Set<string>();
  const pathOf = ({ run_id, isApart }: WorkMark) => join(own, `${run_id}${isApart ? APART_SUFFIX : ""}`);
  const listOthers = async () =>
    ((await unlessMissing(readdir(directory))) ?? []).filter((name) => name !== ownName && !taken.has(name));
  const create = () => mkdir(own, { recursive: true, mode: 0o700 });

  /** The process that the directory belongs to: that of the marks, or the one that has taken them. */
  const ownerOf = (name: string) => name.split(TAKEN_BY).at(-1)!;
  /** Undefined if another process was faster. */
  const take = async (name: string): Promise<DeadProcess | undefined> => {
    const [process = name] = name.split(TAKEN_BY);
    const takenName = `${process}${TAKEN_BY}${ownName}`;
    taken.add(takenName);
    const isTaken = await unlessMissing(rename(join(directory, name), join(directory, takenName)).then(() => true));
    if (!isTaken) return undefined;
    const files = (await unlessMissing(readdir(join(directory, takenName)))) ?? [];
    const marks = files.map((file) => ({
      run_id: file.replace(APART_SUFFIX, ""),
      isApart: file.endsWith(APART_SUFFIX),
    }));
    return { name: takenName, process, marks };
  };

  return {
    async add(mark) {
      if (!(await isAlive(ownName))) return;
      const write = () => writeFile(pathOf(mark), "", { mode: 0o600 }).then(() => true);
      if (await unlessMissing(write())) return;
      await create();
      await write();
    },
    async remove(run_id) {
      for (const isApart of [false, true]) await rm(pathOf({ run_id, isApart }), { force: true });
    },
    async isMarkedElsewhere(runId) {
      const names = (await unlessMissing(readdir(directory))) ?? [];
      for (const name of names.filter((each) => each !== ownName))
        for (const file of [runId, `${runId}${APART_SUFFIX}`])
          if (await unlessMissing(stat(join(directory, name, file)))) return true;
      return false;
    },
    async takeDead() {
      const dead: DeadProcess[] = [];
      for (const name of await listOthers()) {
        const process = (await isAlive(ownerOf(name))) ? undefined : await take(name);
        if (process) dead.push(process);
      }
      return dead;
    },
    async forget(name) {
      await rm(join(directory, name), { recursive: true, force: true });
      taken.delete(name);
    },
    close: () => rm(own, { recursive: true, force: true }),
  };
}

const unlessMissing = async <T>(reading: Promise<T>): Promise<T | undefined> => {
  try {
    return await reading;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw thrown;
  }
};
