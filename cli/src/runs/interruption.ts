// Ctrl-C while a command waits for a run. On a terminal it asks whether to cancel the run or leave it; a second Ctrl-C
// leaves it. Without a terminal it leaves the run.
import { isUnattended, writeNote } from "../output/terminal.ts";

type Answer = "cancel" | "leave" | "wait";

export type Interruption = {
  /** Aborts when the command must end. */
  signal: AbortSignal;
  /** Whether the run must be canceled; otherwise it goes on. */
  isCancel(): boolean;
  /** Called before and after the question, so that it is not overwritten. */
  onQuestion(listener: (isOpen: boolean) => void): void;
  stop(): void;
};

const QUESTION = "Press c to cancel the run, l to leave it running, or any other key to go on waiting.";

export function listenForInterrupts(): Interruption {
  const controller = new AbortController();
  let isCancel = false;
  let isAsking = false;
  let tellQuestion = (_isOpen: boolean) => {};
  const end = (answer: Answer) => {
    isCancel = answer === "cancel";
    if (answer !== "wait") controller.abort();
  };
  const onInterrupt = async () => {
    const canAsk = !isUnattended() && process.stdin.isTTY && process.stderr.isTTY;
    if (isAsking || !canAsk) return end("leave");
    isAsking = true;
    tellQuestion(true);
    writeNote(QUESTION);
    end(await readAnswer());
    isAsking = false;
    tellQuestion(false);
  };
  const listener = () => void onInterrupt();
  process.on("SIGINT", listener);
  process.on("SIGTERM", listener);
  return {
    signal: controller.signal,
    isCancel: () => isCancel,
    onQuestion: (told) => {
      tellQuestion = told;
    },
    stop: () => {
      process.off("SIGINT", listener);
      process.off("SIGTERM", listener);
    },
  };
}

/** One key press. In raw mode, Ctrl-C is a key like any other. */
function readAnswer(): Promise<Answer> {
  const { stdin } = process;
  stdin.setRawMode(true).resume();
  return new Promise((resolve) => {
    stdin.once("data", (key) => {
      stdin.setRawMode(false).pause();
      const text = String(key).toLowerCase();
      resolve(text === "c" ? "cancel" : text === "l" || text === "\u0003" ? "leave" : "wait");
    });
  });
}
