// The hands of a run, bound to one house.
import { begin } from "./begin.ts";
import { arm, cancelAtProvider, collect } from "./collect.ts";
import type { Hands } from "./execute.ts";
import { finish } from "./finish.ts";
import type { House } from "./house.ts";
import { ingest } from "./ingest.ts";
import { submit } from "./submit.ts";

export const handsOf = (house: House): Hands => ({
  begin: (held) => begin(house, held),
  ingest: (held, _n, job, made) => ingest(house, held, job, made),
  submit: (held, work, attempt) => submit(house, held, work, attempt),
  collect: (held, work, attempt) => collect(house, held, work, attempt),
  arm: (held, work, bell) => arm(house, held, work, bell),
  cancel: (held, work) => cancelAtProvider(house, held, work),
  finish: (held, end) => finish(house, held, end),
});
