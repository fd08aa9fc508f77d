// The command palette: jumps to a page, an operation or a run. Runs are found by words of their prompt or by their ID.
import { useQuery } from "@tanstack/react-query";
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
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import styles from "./command-palette.module.css";
import { foundRunsQuery } from "./found-runs.ts";
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
