// Notifies the caller that a job has ended: signed, up to five attempts, over kept-alive connections.
import { createHmac } from "node:crypto";
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

const pauseSeconds = [0.2, 1, 3, 10];
const attemptMilliseconds = 10_000;

type CallbackMessage = { url: string; body: string };

export type CallbackSender = {
  /** Resolves after the first attempt; later attempts continue in the background. `onAttempt` is called after each. */
  send(letter: CallbackMessage, onAttempt: (taken: boolean) => void): Promise<void>;
  close(): void;
};

const signature = (key: string, body: string): string => {
  const time = Math.floor(Date.now() / 1000);
  return `t=${time},v1=${createHmac("sha256", key).update(`${time}.${body}`).digest("hex")}`;
};

export const createCallbackSender = (key: string): CallbackSender => {
  const agents = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) };
  const timers = new Set<NodeJS.Timeout>();
  let isClosed = false;

  const post = ({ url, body }: CallbackMessage): Promise<boolean> =>
    new Promise((resolve) => {
      const isSecure = url.startsWith("https:");
      const headers = {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        "sandbox-signature": signature(key, body),
      };
      const options = { method: "POST", headers, timeout: attemptMilliseconds };
      const outgoing = isSecure
        ? httpsRequest(url, { ...options, agent: agents.https })
        : httpRequest(url, { ...options, agent: agents.http });
      outgoing.on("response", (response) => {
        // Unread bytes would prevent the connection from being reused.
        response.resume();
        resolve(response.statusCode !== undefined && response.statusCode >= 200 && response.statusCode < 300);
      });
      outgoing.on("timeout", () => outgoing.destroy());
      outgoing.on("error", () => resolve(false));
      outgoing.end(body);
    });

  const attempt = async (
    letter: CallbackMessage,
    onAttempt: (taken: boolean) => void,
    tries: number,
  ): Promise<void> => {
    const taken = await post(letter);
    if (isClosed) return;
    onAttempt(taken);
    const pause = pauseSeconds[tries];
    if (taken || pause === undefined) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      void attempt(letter, onAttempt, tries + 1);
    }, pause * 1000);
    timers.add(timer);
  };

  return {
    send: (letter, onAttempt) => attempt(letter, onAttempt, 0),
    close: () => {
      isClosed = true;
      for (const timer of timers) clearTimeout(timer);
      agents.http.destroy();
      agents.https.destroy();
    },
  };
};
