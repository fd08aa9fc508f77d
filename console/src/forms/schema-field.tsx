// One field of a generated form: label, widget, hint and errors. The kind of the field decides the widget.
import type { FieldError } from "@gesso/client";
import { TriangleAlert } from "lucide-react";
import type { ComponentType } from "react";
import { classNames } from "../parts/class-names.ts";
import fieldStyles from "../parts/field.module.css";
import { Icon } from "../parts/icon.tsx";
import { parsePointer } from "./field-errors.ts";
import { FieldLabel } from "./field-label.tsx";
import type { Widget } from "./operation-forms.ts";
import { ChoiceWidget } from "./widgets/choice-widget.tsx";
import { FileWidget } from "./widgets/file-widget.tsx";
import { ImageWidget } from "./widgets/image-widget.tsx";
import { ListWidget } from "./widgets/list-widget.tsx";
import { NumberWidget } from "./widgets/number-widget.tsx";
import {
  ChecksWidget,
  GroupWidget,
  JsonWidget,
  SeedWidget,
  SwitchWidget,
  TextWidget,
  TimeWidget,
} from "./widgets/plain-widgets.tsx";
import { RatioWidget } from "./widgets/ratio-widget.tsx";
import { ScopesWidget } from "./widgets/scopes-widget.tsx";
import { UnionWidget } from "./widgets/union-widget.tsx";
import type { FieldProps, WidgetProps } from "./widgets/widget-props.ts";

const WIDGETS: Record<Widget, ComponentType<WidgetProps>> = {
  text: TextWidget,
  number: NumberWidget,
  seed: SeedWidget,
  choice: ChoiceWidget,
  ratio: RatioWidget,
  switch: SwitchWidget,
  image: ImageWidget,
  list: ListWidget,
  json: JsonWidget,
  group: GroupWidget,
  time: TimeWidget,
  checks: ChecksWidget,
  scopes: ScopesWidget,
  union: UnionWidget,
  file: FileWidget,
};

function sayError({ path, message }: FieldError): string {
  const within = parsePointer(path).slice(1).join(".");
  return within === "" ? message : `${within}: ${message}`;
}

export function SchemaField(props: FieldProps) {
  const { id, field, state, value, errors, model, isBare = false, isHalf = false, tools } = props;
  const FieldWidget = WIDGETS[field.widget];
  const hintId = `${id}-hint`;
  const errorId = `${id}-error`;
  // Errors within a list are shown at their item; JSON has no items, so it shows where they are.
  const isWhole = field.widget === "json";
  const own = errors.filter(({ path }) => isWhole || parsePointer(path).length === 1);
  const describedBy = classNames(!isBare && hintId, own.length > 0 && errorId) || undefined;
  return (
    <div
      className={classNames(fieldStyles.field, state.isUnused && fieldStyles.unused, isHalf && fieldStyles.half)}
      data-field={field.name}
    >
      {!isBare && <FieldLabel id={id} hintId={hintId} field={field} state={state} value={value} model={model} />}
      <div className={classNames(fieldStyles.control, Boolean(tools) && fieldStyles.withTools)}>
        <FieldWidget {...props} describedBy={describedBy} renderField={(inner) => <SchemaField {...inner} />} />
        {tools && <div className={fieldStyles.tools}>{tools}</div>}
      </div>
      {own.length > 0 && (
        <p id={errorId} className={fieldStyles.error}>
          <Icon of={TriangleAlert} size="s" />
          {own.map(sayError).join(" ")}
        </p>
      )}
    </div>
  );
}
