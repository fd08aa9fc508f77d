// The imported models as requests name them. A process keeps what it has read for a few seconds, so a model that is
// added, changed or removed has effect in all processes soon, without a restart.
import { findNoFiles } from "../../contract/model-run.ts";
import { rankNames } from "../../contract/nearest-names.ts";
import type { ImportedModel } from "../../contract/operation.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Database } from "../../db/connect.ts";
import { findPin, listPinNames } from "../../db/library/imported-models.ts";
import { Fault, type ValidationIssue } from "../../faults/faults.ts";
import { createInputValidator } from "../../models/validate-input.ts";
import type { Clock } from "../../runtime/clock.ts";

const FRESH_MS = 5000;
const MAX_KEPT = 500;
const SUGGESTIONS = 3;
const MICRODOLLARS_PER_DOLLAR = 1_000_000;

export type ImportedModels = {
  /**
   * Throws validation_error with the nearest names if no imported model of the tenant has this name. Without a tenant,
   * as for the operator, those of all tenants count.
   */
  require(name: string, tenantId: string | undefined): Promise<ImportedModel>;
  /** Throws validation_error with pointers into the request if the input does not fit the model. */
  check(model: ImportedModel, input: JsonObject): void;
  /** Reads everything again. For the process that has made a change: its next request sees it. */
  forget(): void;
};

type Kept = { found: ImportedModel; tenantIds: string[] | null; readAt: number };

export function createImportedModels(database: Database, clock: Pick<Clock, "monotonic">): ImportedModels {
  const kept = new Map<string, Kept>();
  const validator = createInputValidator();

  async function find(name: string): Promise<Kept | undefined> {
    const known = kept.get(name);
    if (known && clock.monotonic() - known.readAt < FRESH_MS) return known;
    const readAt = clock.monotonic();
    const pin = await findPin(database, name);
    kept.delete(name);
    // A name that means nothing is not kept: there is no end to them.
    if (!pin) return undefined;
    const found = { ...pin.document, call_price: toDollars(pin.call_price) };
    const read = { found, tenantIds: pin.tenant_ids, readAt };
    kept.set(name, read);
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_KEPT) break;
      kept.delete(oldest);
    }
    return read;
  }

  return {
    async require(name, tenantId) {
      const model = await find(name);
      if (model && (tenantId === undefined || (model.tenantIds?.includes(tenantId) ?? true))) return model.found;
      const nearest = rankNames(name, await listPinNames(database, tenantId)).slice(0, SUGGESTIONS);
      const suggestion =
        nearest.length > 0
          ? ` Nearest names: ${nearest.map(({ candidate }) => candidate).join(", ")}. See catalogue.listModels.`
          : " The operator can add one with `gesso models add`.";
      const message = `There is no imported model of this name.${suggestion}`;
      throw new Fault("validation_error", { errors: [{ path: "/model", code: "unknown_value", message }] });
    },
    check(model, input) {
      const noFiles = findNoFiles(model, input).map(
        (path): ValidationIssue => ({ path, code: "ambiguous_reference", message: NO_FILE }),
      );
      const errors = noFiles.length > 0 ? noFiles : validator.findIssues(model, input);
      if (errors.length > 0) throw new Fault("validation_error", { errors });
    },
    forget: () => kept.clear(),
  };
}

const NO_FILE = "Must be a file: a URL, base64, a run ID, or an output of a run.";
const toDollars = (amount: number | null) => (amount === null ? null : amount / MICRODOLLARS_PER_DOLLAR);
