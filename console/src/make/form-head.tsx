// The head of the form: which operation, and whether it is edited as a form or as JSON.
import { ChevronDown } from "lucide-react";
import { memo } from "react";
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { OPERATION_FORMS, type OperationForm } from "../forms/operation-forms.ts";
import { Icon } from "../parts/icon.tsx";
import menuStyles from "../parts/menu.module.css";
import { Segments } from "../parts/segments.tsx";
import { text } from "../text/text.ts";
import styles from "./make-form.module.css";

const VIEWS = ["form", "json", "code"] as const;
export type FormView = (typeof VIEWS)[number];

type FormHeadProps = {
  form: OperationForm;
  view: FormView;
  onView(view: FormView): void;
  onChooseOperation(name: string): void;
};

export const FormHead = memo(function FormHead({ form, view, onView, onChooseOperation }: FormHeadProps) {
  return (
    <div className={styles.head}>
      <h1 className="visually-hidden">{text.make.title}</h1>
      <MenuTrigger>
        <Button className={styles.operation ?? ""} aria-label={`${text.make.operation}: ${form.label}`}>
          <span className="clip">{form.label}</span>
          <Icon of={ChevronDown} />
        </Button>
        <Popover className={menuStyles.popover ?? ""} placement="bottom start">
          <Menu
            className={menuStyles.menu ?? ""}
            aria-label={text.make.operation}
            onAction={(key) => onChooseOperation(String(key))}
          >
            {OPERATION_FORMS.map(({ name, label, title }) => (
              <MenuItem key={name} id={name} textValue={label} className={menuStyles.entry ?? ""}>
                <span className={menuStyles.name}>{label}</span>
                <span className={menuStyles.says}>{title}</span>
              </MenuItem>
            ))}
          </Menu>
        </Popover>
      </MenuTrigger>
      <Segments
        label={text.form.label}
        isSmall
        options={VIEWS.map((id) => ({ id, label: text.make.views[id] }))}
        value={view}
        onChange={(id) => onView(VIEWS.find((each) => each === id) ?? "form")}
      />
    </div>
  );
});
