// Chooses which operation edits the masked area, by the name of its model.
import { ChevronDown } from "lucide-react";
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { buttonClass } from "../parts/button-class.ts";
import { Icon } from "../parts/icon.tsx";
import menuStyles from "../parts/menu.module.css";
import { text } from "../text/text.ts";
import { MASK_EDITS, type MaskEdit, modelOfMaskEdit } from "./mask-edits.ts";

const nameOf = (edit: MaskEdit) => modelOfMaskEdit(edit) ?? text.paint.edit.defaultModel;

export function EditModel({ edit, onChange }: { edit: MaskEdit; onChange(edit: MaskEdit): void }) {
  return (
    <MenuTrigger>
      <Button
        className={buttonClass({ kind: "quiet", size: "s" })}
        aria-label={`${text.paint.edit.model}: ${nameOf(edit)}`}
      >
        {nameOf(edit)}
        <Icon of={ChevronDown} size="s" />
      </Button>
      <Popover className={menuStyles.popover ?? ""} placement="bottom end">
        <Menu className={menuStyles.menu ?? ""} aria-label={text.paint.edit.model}>
          {MASK_EDITS.map((each) => (
            <MenuItem
              key={each.operation}
              id={each.operation}
              className={menuStyles.item ?? ""}
              onAction={() => onChange(each)}
            >
              {nameOf(each)}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
