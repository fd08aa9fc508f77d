// Exchanges a pasted API key for a session. The key is in the input only: never in the state of the page, in storage
// or in the cache, and the input is emptied once the key is sent.
import { type FormEvent, useId, useState } from "react";
import { type Session, type SignInRefusal, signIn } from "../api/session.ts";
import { Button } from "../parts/button.tsx";
import fieldStyles from "../parts/field.module.css";
import { text } from "../text/text.ts";
import { RefusalNotice } from "./refusal-notice.tsx";

type KeyFormProps = { isPrimary: boolean; onSignedIn(session: Session): void };

export function KeyForm({ isPrimary, onSignedIn }: KeyFormProps) {
  const id = useId();
  const [isSending, setIsSending] = useState(false);
  const [refusal, setRefusal] = useState<SignInRefusal>();
  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const key = String(new FormData(form).get("key") ?? "").trim();
    if (key === "" || isSending) return;
    setIsSending(true);
    const result = await signIn({ key });
    form.reset();
    setIsSending(false);
    if ("session" in result) onSignedIn(result.session);
    else setRefusal(result.refusal);
  };
  return (
    <form className={fieldStyles.stack} onSubmit={(event) => void send(event)}>
      {refusal && <RefusalNotice refusal={refusal} />}
      <div className={fieldStyles.field}>
        <label className={fieldStyles.label} htmlFor={id}>
          {text.login.key}
        </label>
        <input
          id={id}
          name="key"
          type="password"
          className={fieldStyles.input}
          placeholder="gsk_…"
          autoComplete="off"
          spellCheck={false}
          aria-describedby={`${id}-hint`}
        />
        <p id={`${id}-hint`} className={fieldStyles.hint}>
          {text.login.keyHint}
        </p>
      </div>
      <Button type="submit" size="l" kind={isPrimary ? "primary" : "plain"} aria-disabled={isSending}>
        {text.login.withKey}
      </Button>
    </form>
  );
}
