// Connects a provider to `gesso dev`: asks for its key, has it checked, waits until the server has started again with
// it, and shows models and prices. The key is in the input only, which is emptied once the key is sent: never in the
// state of the page, in storage or in the cache.
import type { ConnectedProvider } from "@gesso/client";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleAlert, ExternalLink } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { catalogueQuery } from "../api/queries.ts";
import { awaitNewServer, connectProvider, systemQuery } from "../api/system.ts";
import { Button } from "../parts/button.tsx";
import { buttonClass } from "../parts/button-class.ts";
import { Dialog, DialogBody, DialogFooter } from "../parts/dialog.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import fieldStyles from "../parts/field.module.css";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { text } from "../text/text.ts";
import styles from "./connect-dialog.module.css";
import { FoldedPrices, PriceList } from "./price-list.tsx";
import type { ListedProvider } from "./provider-facts.ts";
import { readRefusal } from "./refused-key.ts";

const words = text.system;

type Stage =
  | { kind: "form"; error?: unknown }
  | { kind: "checking" }
  | { kind: "starting"; connected: ConnectedProvider }
  | { kind: "connected"; connected: ConnectedProvider }
  | { kind: "not_started" };

type ConnectDialogProps = {
  provider: ListedProvider;
  isReplacing: boolean;
  /** Start of the server that responds now. */
  startedAt: string;
  onClose(): void;
};

export function ConnectDialog({ provider, isReplacing, startedAt, onClose }: ConnectDialogProps) {
  const queryClient = useQueryClient();
  const [stage, setStage] = useState<Stage>({ kind: "form" });
  const connect = async (settings: Record<string, string>) => {
    setStage({ kind: "checking" });
    try {
      const connected = await connectProvider(provider.id, settings);
      if (!connected.in_use) {
        setStage({ kind: "starting", connected });
        const report = await awaitNewServer(startedAt);
        if (!report) return setStage({ kind: "not_started" });
        queryClient.setQueryData(systemQuery.queryKey, report);
        void queryClient.invalidateQueries({ queryKey: catalogueQuery.queryKey });
      }
      setStage({ kind: "connected", connected });
    } catch (error) {
      setStage({ kind: "form", error });
    }
  };
  const title = (isReplacing ? words.replaceTitle : words.connectTitle)(provider.name);
  return (
    <Dialog title={title} isWide isDismissable={false} onClose={onClose}>
      {stage.kind === "form" || stage.kind === "checking" ? (
        <KeyForm
          provider={provider}
          error={stage.kind === "form" ? stage.error : undefined}
          isChecking={stage.kind === "checking"}
          onSubmit={(settings) => void connect(settings)}
          onClose={onClose}
        />
      ) : (
        <Outcome provider={provider} stage={stage} onClose={onClose} />
      )}
    </Dialog>
  );
}

type KeyFormProps = {
  provider: ListedProvider;
  error: unknown;
  isChecking: boolean;
  onSubmit(settings: Record<string, string>): void;
  onClose(): void;
};

function KeyForm({ provider, error, isChecking, onSubmit, onClose }: KeyFormProps) {
  const { name, unlocks, key_page, settings, offers } = provider;
  const id = useId();
  const [isEmpty, setIsEmpty] = useState(false);
  const refusal = readRefusal(error);
  const problem = isEmpty ? words.noKey : refusal;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const data = new FormData(form);
    const values = Object.fromEntries(settings.map((each) => [each.name, String(data.get(each.name) ?? "").trim()]));
    if (isChecking) return;
    setIsEmpty(Object.values(values).includes(""));
    if (Object.values(values).includes("")) return;
    form.reset();
    onSubmit(values);
  };
  return (
    <form onSubmit={submit} noValidate>
      <DialogBody>
        <p>
          {words.unlocks(name, unlocks)}{" "}
          {key_page && (
            <a href={key_page} target="_blank" rel="noreferrer" className={styles.link}>
              {words.keyPage(name, new URL(key_page).hostname)}
              <Icon of={ExternalLink} size="s" />
            </a>
          )}
        </p>
        {error !== undefined && !refusal && <ErrorNotice error={error} />}
        {settings.map((setting, index) => (
          <div key={setting.name} className={fieldStyles.field}>
            <label className={fieldStyles.label} htmlFor={`${id}-${setting.name}`}>
              {words.settingLabel(setting.description)}
              <span className={fieldStyles.note}>{setting.name}</span>
            </label>
            <input
              id={`${id}-${setting.name}`}
              name={setting.name}
              type={setting.secret ? "password" : "text"}
              className={fieldStyles.input}
              autoComplete="off"
              spellCheck={false}
              readOnly={isChecking}
              // biome-ignore lint/a11y/noAutofocus: the dialog was opened to enter this
              autoFocus={index === 0}
              aria-invalid={problem !== undefined}
              aria-describedby={`${id}-hint`}
            />
          </div>
        ))}
        {problem && (
          <p className={fieldStyles.error} role="alert">
            <Icon of={CircleAlert} size="s" />
            {problem}
          </p>
        )}
        <p id={`${id}-hint`} className={fieldStyles.hint}>
          {words.keyHint}
        </p>
        <FoldedPrices offers={offers} />
      </DialogBody>
      <DialogFooter>
        <Button onClick={onClose}>{text.common.cancel}</Button>
        <Button kind="primary" type="submit" aria-disabled={isChecking}>
          {isChecking ? words.checkingKey : words.actions.connect}
        </Button>
      </DialogFooter>
    </form>
  );
}

type OutcomeProps = {
  provider: ListedProvider;
  stage: Exclude<Stage, { kind: "form" | "checking" }>;
  onClose(): void;
};

function Outcome({ provider: { name }, stage, onClose }: OutcomeProps) {
  return (
    <>
      <DialogBody>
        {stage.kind === "not_started" && (
          <Notice kind="bad" title={words.notStarted}>
            {words.notStartedNext}
          </Notice>
        )}
        {stage.kind === "starting" && (
          <Notice kind="info" title={words.starting(name)}>
            {words.startingNote}
          </Notice>
        )}
        {stage.kind === "connected" && (
          <Notice kind="ok" title={words.connected(name)}>
            {stage.connected.checked ? words.connectedNote : words.uncheckedNote}
            {stage.connected.fix && ` ${words.advice(stage.connected.message, stage.connected.fix)}`}
          </Notice>
        )}
        {stage.kind !== "not_started" && <PriceList offers={stage.connected.offers} />}
      </DialogBody>
      <DialogFooter>
        <Button onClick={onClose}>{text.common.close}</Button>
        {stage.kind === "connected" && (
          <Link to="/" className={buttonClass({ kind: "primary" })}>
            {words.firstImage}
          </Link>
        )}
      </DialogFooter>
    </>
  );
}
