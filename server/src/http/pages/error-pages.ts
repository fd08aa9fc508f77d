// Serves the documentation of error codes, `/errors` and `/errors/<code>`, from the fault catalogue. The client's
// `docUrl` points to it.
import { Hono } from "hono";
import { type FaultCode, faults } from "../../faults/faults.ts";
import { faultGuidance } from "../../faults/guidance.ts";
import { escapeHtml, renderInline, respondWithPage } from "./html-page.ts";

const isFaultCode = (code: string): code is FaultCode => Object.hasOwn(faults, code);

function renderErrorPage(code: FaultCode): string {
  const { status, message } = faults[code];
  const isRetryable = (faults[code] as { isRetryable?: boolean }).isRetryable === true;
  const { when, fix } = faultGuidance[code];
  return [
    `<p class="quiet"><a href="/errors">Errors</a> / ${status}</p><h1>${escapeHtml(code)}</h1>`,
    `<p>${renderInline(message)}</p>`,
    `<h2>When it happens</h2><p>${renderInline(when)}</p>`,
    `<h2>What to do</h2><p>${renderInline(fix)}</p>`,
    `<h2>Retry</h2><p>${isRetryable ? "The same request can succeed later. Wait for the seconds in the <code>Retry-After</code> header." : "The same request fails again. Change it first."}</p>`,
    `<p class="quiet">If you ask for help, include <code>details.request_id</code> of the response.</p>`,
  ].join("");
}

const renderErrorList = (): string =>
  `<h1>Errors</h1><p>Every error response has a <code>code</code> that never changes. Open a code to see when it happens and what to do.</p><table>${(
    Object.keys(faults) as FaultCode[]
  )
    .sort()
    .map(
      (code) =>
        `<tr><th scope="row"><a href="/errors/${code}">${code}</a></th><td>${renderInline(faults[code].message)}</td></tr>`,
    )
    .join("")}</table>`;

export function errorPageRoutes(): Hono {
  const app = new Hono();
  app.get("/errors", (context) => respondWithPage(context, "Errors - Gesso", renderErrorList()));
  app.get("/errors/:code", (context, next) => {
    const code = context.req.param("code");
    if (!isFaultCode(code)) return next();
    return respondWithPage(context, `${code} - Gesso`, renderErrorPage(code));
  });
  return app;
}
