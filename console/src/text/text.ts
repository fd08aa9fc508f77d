// The words of the page in its language. The pseudo-locale lengthens every word by about a third and marks it, which
// shows layouts that break with longer words and words that are not in the catalogue.
import { en } from "./en.ts";

type Words = typeof en;
type Entry = string | readonly string[] | ((...values: never[]) => string) | { [name: string]: Entry };

const PSEUDO_LOCALE_KEY = "gesso.pseudo-locale";

function toPseudoText(words: string): string {
  return `⟦${words}${"~".repeat(Math.ceil(words.length / 3))}⟧`;
}

export function toPseudoLocale<E extends Entry>(entry: E): E {
  if (typeof entry === "string") return toPseudoText(entry) as E;
  if (typeof entry === "function") return ((...values: never[]) => toPseudoText(entry(...values))) as E;
  if (Array.isArray(entry)) return entry.map((each) => toPseudoText(each)) as unknown as E;
  return Object.fromEntries(Object.entries(entry).map(([name, each]) => [name, toPseudoLocale(each as Entry)])) as E;
}

const isPseudo = () => globalThis.localStorage?.getItem(PSEUDO_LOCALE_KEY) === "on";

export const text: Words = isPseudo() ? toPseudoLocale(en) : en;
