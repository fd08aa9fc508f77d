// The search of a list: filters as tokens, then words. Typed filters such as `model:flux-dev` become tokens.
import { Search, X } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import { addTyped, type ListSearch, tokensOf, withoutToken } from "./list-search.ts";
import styles from "./search-field.module.css";

const PAUSE_MS = 300;
const RUN_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type SearchFieldProps = { search: ListSearch; onChange(search: ListSearch): void; onRunId(runId: string): void };

export function SearchField({ search, onChange, onRunId }: SearchFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(search.q ?? "");
  useSlashKey(input);
  useEffect(() => setTyped(search.q ?? ""), [search.q]);
  const commit = (words: string) => {
    const runId = words.trim();
    if (RUN_ID.test(runId)) onRunId(runId);
    else if (words.trim() !== (search.q ?? "")) onChange(addTyped(search, words));
  };
  useEffect(() => {
    // A filter is complete when it is followed by a space; words are searched after a pause.
    if (typed === (search.q ?? "") || /\w+:\S*$/.test(typed)) return;
    const timer = setTimeout(() => commit(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") commit(typed);
    if (event.key === "Escape") input.current?.blur();
    const last = tokensOf(search).at(-1);
    if (event.key === "Backspace" && typed === "" && last) onChange(withoutToken(search, last.name));
  };
  return (
    <search className={styles.field}>
      <Icon of={Search} />
      {tokensOf(search).map(({ name, value }) => (
        <button
          key={name}
          type="button"
          className={styles.token}
          aria-label={text.search.remove(text.search.filters[name], value)}
          onClick={() => onChange(withoutToken(search, name))}
        >
          <i>{text.search.filters[name]}</i>
          <span className="clip">{value}</span>
          <Icon of={X} size="s" />
        </button>
      ))}
      <input
        ref={input}
        type="search"
        aria-label={text.search.label}
        placeholder={text.search.hint}
        value={typed}
        maxLength={200}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <span className={styles.key}>/</span>
    </search>
  );
}

/** The key / moves the focus to the search, unless the reader types elsewhere. */
function useSlashKey(input: React.RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    const onKeyDown = (event: globalThis.KeyboardEvent) => {
      const isTyping = event.target instanceof Element && event.target.closest("input, textarea, select") !== null;
      if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.current?.focus();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [input]);
}
