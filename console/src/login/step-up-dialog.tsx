// Asks for a new login when an operation needs a recent one. It closes by itself when the session has one: after a key
// was entered here, or after a sign-in in another tab.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { configQuery, identityQuery, sessionQuery } from "../api/queries.ts";
import { fetchSession, oidcUrl, type Session } from "../api/session.ts";
import type { OpenStepUp } from "../api/step-up.ts";
import { Button } from "../parts/button.tsx";
import { buttonClass } from "../parts/button-class.ts";
import { Dialog, DialogBody, DialogFooter } from "../parts/dialog.tsx";
import { Notice } from "../parts/notice.tsx";
import { text } from "../text/text.ts";
import { KeyForm } from "./key-form.tsx";

const POLL_MS = 1500;

const isRecent = ({ recent_login_until }: Session) =>
  recent_login_until !== null && Date.parse(recent_login_until) > Date.now();

export function StepUpDialog({ request }: { request: OpenStepUp }) {
  const { data: config } = useQuery(configQuery);
  const { accept, isOther } = useSameAccount(request);
  useEffect(() => {
    const poll = setInterval(() => {
      void fetchSession()
        .then((session) => {
          if (session && isRecent(session)) return accept(session);
        })
        .catch(() => undefined);
    }, POLL_MS);
    return () => clearInterval(poll);
  }, [accept]);
  const { oidc = [], code = false } = config?.sign_in_methods ?? {};
  const isProviderFirst = request.method === "oidc";
  const giveUp = () => {
    request.decide(false);
    // The page still shows what the account before may see.
    if (isOther) location.reload();
  };
  return (
    <Dialog title={text.stepUp.title} isDismissable={false} onClose={giveUp}>
      <DialogBody>
        <p>{text.stepUp.why}</p>
        {isOther && <Notice kind="bad" title={text.stepUp.other} />}
        {isProviderFirst &&
          oidc.map(({ id, url }) => (
            <a
              key={id}
              className={buttonClass({ kind: "primary", size: "l" })}
              href={`${oidcUrl(url, location.pathname)}&again=true`}
              target="_blank"
              rel="noopener"
            >
              {text.stepUp.oidc(id)}
            </a>
          ))}
        {isProviderFirst ? (
          <p>{text.stepUp.oidcHint}</p>
        ) : (
          <KeyForm isPrimary onSignedIn={(session) => void accept(session)} />
        )}
        {code && (
          <p>
            {text.stepUp.link} <code className="mono">{text.stepUp.linkCommand}</code>
          </p>
        )}
      </DialogBody>
      <DialogFooter>
        <Button onClick={giveUp}>{text.common.cancel}</Button>
      </DialogFooter>
    </Dialog>
  );
}

/** Repeats the request only for the account that sent it: a key of another tenant must not create something there. */
function useSameAccount(request: OpenStepUp) {
  const queryClient = useQueryClient();
  const [isOther, setIsOther] = useState(false);
  const [before] = useState(() => queryClient.getQueryData(identityQuery.queryKey));
  const [accept] = useState(() => async (session: Session) => {
    const identity = await queryClient.fetchQuery({ ...identityQuery, staleTime: 0 });
    const isSame = identity.user_id === before?.user_id && identity.tenant.id === before?.tenant.id;
    if (!isSame) {
      setIsOther(true);
      return;
    }
    queryClient.setQueryData(sessionQuery.queryKey, session);
    request.decide(true);
  });
  return { accept, isOther };
}
