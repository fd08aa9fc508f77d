// Questions between processes that share a directory: each listens on a socket in it and answers with one word. The
// kernel closes the socket of a process that dies, so an answer, or silence behind an open socket, proves that its
// process lives, whatever the clocks say.
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import type { Clock, Ids } from "../runtime/clock.ts";

export type ProcessSockets = {
  /** Identifies this process in the directory. */
  name: string;
  /** Whether the process with this name lives. One that never listened does not. */
  isAlive(name: string): Promise<boolean>;
  /** The answers of the other processes that live. `undefined`: a process that lives and does not answer. */
  ask(question: string): Promise<(string | undefined)[]>;
  /** Answers the other processes from now on. */
  listen(answer: (question: string) => string): Promise<void>;
  close(): Promise<void>;
};

export const SOCKET_SUFFIX = ".sock";
/** The longest path that every system takes for a socket, without the byte that ends it. */
const MAX_PATH_BYTES = 103;
/** A process that is stopped accepts connections and does not answer. */
const ANSWER_MS = 2000;
/** A closed socket that is older belongs to a process that was killed, not to one that is starting. */
const DEAD_SOCKET_MS = 60_000;
const MAX_QUESTION_LENGTH = 200;

export function createProcessSockets(directory: string, { clock, ids }: { clock: Clock; ids: Ids }): ProcessSockets {
  // The last digits of an id are random.
  const name = ids.next().slice(-12);
  const pathOf = (process: string) => join(directory, `${process}${SOCKET_SUFFIX}`);
  let own: Server | undefined;
  const listOthers = async () => {
    const names = await readdir(directory).catch(() => []);
    return names
      .map((fileName) => join(directory, fileName))
      .filter((path) => path.endsWith(SOCKET_SUFFIX) && path !== pathOf(name));
  };
  const deleteDead = async () => {
    for (const path of await listOthers()) {
      const found = await stat(path).catch(() => undefined);
      if (!found || clock.now() - found.mtimeMs < DEAD_SOCKET_MS) continue;
      if ((await askOne(clock, path, "")).state === "dead") await rm(path, { force: true });
    }
  };
  return {
    name,
    isAlive: async (process) =>
      process === name ? own !== undefined : (await askOne(clock, pathOf(process), "")).state === "alive",
    async ask(question) {
      const answers = await Promise.all((await listOthers()).map((path) => askOne(clock, path, question)));
      return answers.flatMap((each) => (each.state === "dead" ? [] : [each.answer]));
    },
    async listen(answer) {
      const path = pathOf(name);
      if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw new Error(`the path of a socket is too long: ${path}`);
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const server = createServer((socket) => {
        let question = "";
        socket.on("error", () => {});
        socket.setEncoding("utf8").on("data", (text) => {
          question += text;
          if (question.length > MAX_QUESTION_LENGTH) socket.destroy();
          else if (question.endsWith("\n")) socket.end(answer(question.trim()));
        });
      });
      await new Promise<void>((done, fail) => server.once("error", fail).listen(path, done));
      server.unref();
      own = server;
      await deleteDead();
    },
    async close() {
      const closing = own;
      own = undefined;
      if (closing) await new Promise<void>((done) => closing.close(() => done()));
    },
  };
}

/** `dead`: no process listens on the socket any more. */
type Answer = { state: "dead" } | { state: "alive"; answer: string | undefined };

const askOne = (clock: Clock, path: string, question: string): Promise<Answer> =>
  new Promise((done) => {
    let answer = "";
    const socket = connect(path);
    const finish = (result: Answer) => {
      timer.stop();
      socket.destroy();
      done(result);
    };
    const timer = clock.after(ANSWER_MS, () => finish({ state: "alive", answer: undefined }));
    socket.setEncoding("utf8").on("data", (text) => {
      answer += text;
    });
    socket.on("error", () => finish({ state: "dead" }));
    // A process that dies after it has accepted the connection ends it without an answer.
    socket.on("end", () => finish(answer === "" ? { state: "dead" } : { state: "alive", answer }));
    socket.on("connect", () => socket.write(`${question}\n`));
  });
