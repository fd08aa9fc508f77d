import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callerOf, readLedger } from "../caller.ts";
import { startWorld, type World } from "../world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ roles: "split", env: { SUBMIT_SECONDS: "8" } });
}, 60_000);
afterAll(() => world?.stop());

describe("a deploy", () => {
  it("finishes the submissions that are under way: none is in doubt, even where nobody could be asked", async () => {
    const caller = callerOf(world);
    const post = (index: number) =>
      caller.generate({
        prompt: `[sandbox:accept_delay=2] deploy ${index}`,
        model_type: "vendora",
        width: 64,
        height: 64,
      });
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => post(index)));
    const ids = answers.map((answer) => answer.body.run_id);
    const intents = async () =>
      (
        await world.query<{ count: number }>("select count(*)::int from attempts where run_id = any($1::uuid[])", [ids])
      )[0]!.count;
    await expect.poll(intents, { timeout: 15_000 }).toBe(12);

    await world.leave("worker");
    await world.start("worker");
    const runs = await Promise.all(ids.map((id) => caller.ended(id, 60)));
    expect(runs.map((run) => run.status)).toEqual(ids.map(() => "completed"));
    const doubts = await world.query(
      "select 1 from attempts where run_id = any($1::uuid[]) and (sends > 1 or unknown_since is not null)",
      [ids],
    );
    expect(doubts).toHaveLength(0);
    expect((await readLedger(world)).filter((job) => job.answer_lost)).toHaveLength(0);
  }, 120_000);

  it("answers whoever waits with the run as it stands", async () => {
    const caller = callerOf(world);
    const waiting = caller.generate({ prompt: "[sandbox:delay=8] patience", width: 64, height: 64, sync: true });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await world.leave("api");
    const { status, body } = await waiting;
    expect([status, ["queued", "processing"].includes(body.status)]).toEqual([202, true]);
    await world.start("api");
    expect((await caller.ended(body.run_id, 60)).status).toBe("completed");
  }, 120_000);
});
