// The command palette: jumps to a page, an operation or a run. Runs are found by words of their prompt or by their ID.
import type { Run } from "@gesso/client";
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { useState } from "react";
import {
  Autocomplete,
  Dialog,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  TextField,
} from "react-aria-components";
import { client } from "../api/client.ts";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import styles from "./command-palette.module.css";
import { containsWords, type PaletteSection } from "./palette-sections.ts";
import { usePaletteSections } from "./use-palette-sections.ts";

export function CommandPalette({ onClose }: { onClose(): void }) {
  const [words, setWords] = useState("");
  const { data: runs = [] } = useQuery(foundRunsQuery(words));
  const sections = usePaletteSections(runs, onClose);
  return (
    <ModalOverlay className={styles.overlay ?? ""} isOpen isDismissable onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Modal className={styles.modal ?? ""}>
        <Dialog className={styles.dialog ?? ""} aria-label={text.navigation.search}>
          <Autocomplete inputValue={words} onInputChange={setWords} filter={containsWords}>
            <TextField className={styles.field ?? ""} aria-label={text.navigation.search} autoFocus>
              <Icon of={Search} />
              <Input className={styles.input ?? ""} placeholder={text.navigation.searchPlaceholder} />
            </TextField>
            <Menu
              className={styles.list ?? ""}
              aria-label={text.navigation.search}
              renderEmptyState={() => <p className={styles.none}>{text.navigation.searchNone}</p>}
            >
              {sections.map((section) => (
                <PaletteEntries key={section.title} section={section} />
              ))}
            </Menu>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function PaletteEntries({ section: { title, entries } }: { section: PaletteSection }) {
  return (
    <MenuSection>
      <Header className={styles.head ?? ""}>{title}</Header>
      {entries.map(({ id, label, hint, open }) => (
        <MenuItem key={id} id={id} textValue={`${label} ${hint}`} className={styles.entry ?? ""} onAction={open}>
          <span className="clip">{label}</span>
          <span className={styles.hint}>{hint}</span>
        </MenuItem>
      ))}
    </MenuSection>
  );
}

const RUN_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const LIMIT = 8;
const MIN_LETTERS = 2;

async function findRuns(words: string): Promise<Run[]> {
  if (RUN_ID.test(words)) return [await client.runs.get(words)];
  const { data } = await client.runs.list({ limit: LIMIT, ...(words.length >= MIN_LETTERS && { q: words }) });
  return data;
}

/** Runs that the words of the command palette name: one by its ID, or several by words of their prompts. */
const foundRunsQuery = (words: string) =>
  queryOptions({
    queryKey: ["runs", "list", "found", words.trim()],
    queryFn: () => findRuns(words.trim()),
    placeholderData: keepPreviousData,
  });
