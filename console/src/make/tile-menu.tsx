// Further steps from a result: the same request again, or a request on this image.
import type { Run } from "@gesso/client";
import { useNavigate } from "@tanstack/react-router";
import { Ellipsis } from "lucide-react";
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { Icon } from "../parts/icon.tsx";
import menuStyles from "../parts/menu.module.css";
import { text } from "../text/text.ts";
import styles from "./result-tile.module.css";

export function TileMenu({ run }: { run: Run }) {
  const navigate = useNavigate();
  const prompt = typeof run.inputs.prompt === "string" ? run.inputs.prompt : text.run.noPrompt;
  const items: { label: string; act(): void }[] = [
    { label: text.make.editAgain, act: () => void navigate({ to: "/", search: { from: run.run_id } }) },
    { label: text.make.newSeed, act: () => void navigate({ to: "/", search: { from: run.run_id, seed: "new" } }) },
    { label: text.run.copyId, act: () => void navigator.clipboard.writeText(run.run_id) },
  ];
  return (
    <MenuTrigger>
      <Button className={styles.action ?? ""} aria-label={text.make.more(prompt)}>
        <Icon of={Ellipsis} />
      </Button>
      <Popover className={menuStyles.popover ?? ""} placement="bottom end">
        <Menu className={menuStyles.menu ?? ""} aria-label={text.make.more(prompt)}>
          {items.map(({ label, act }) => (
            <MenuItem key={label} className={menuStyles.item ?? ""} onAction={act}>
              {label}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
