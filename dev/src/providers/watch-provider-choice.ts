// Notices that `gesso providers` or the console has changed the choice of providers of a running `gesso dev`.
import { watch } from "node:fs";
import { HANDED_KEY_FILE, takeHandedKey } from "./handed-key.ts";
import { loadProviderChoice, PROVIDER_CHOICE_FILE, providerEnvironment } from "./provider-choice.ts";

/** `next` resolves once for each change of what the server would start with. */
export function watchProviderChoice(dataDir: string): { next(): Promise<void>; close(): void } {
  const read = () => JSON.stringify(providerEnvironment(loadProviderChoice(dataDir)));
  let last = read();
  let waiting = Promise.withResolvers<void>();
  // The directory, not the file: a new file replaces the old one.
  const watcher = watch(dataDir, (_event, name) => {
    // What it saves is another event.
    if (name === HANDED_KEY_FILE) takeHandedKey(dataDir);
    if (name !== PROVIDER_CHOICE_FILE) return;
    const now = read();
    if (now === last) return;
    last = now;
    waiting.resolve();
  });
  // Left there before the directory was watched.
  takeHandedKey(dataDir);
  return {
    async next() {
      await waiting.promise;
      waiting = Promise.withResolvers<void>();
    },
    close: () => watcher.close(),
  };
}
