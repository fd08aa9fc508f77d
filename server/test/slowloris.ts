// A thousand slow uploads at once against a whole Gesso: `npm run slowloris`, or `-- --senders 3000`. All must be cut off
// within 35 s, and healthy uploads must take no more than twice as long beside them.
import { parseArgs } from "node:util";
import { p99, slowCrowd, tellCrowd } from "./corpora/slow-crowd.ts";
import { startWorld } from "./world.ts";

const { values } = parseArgs({ options: { senders: { type: "string", default: "1000" } } });
const many = Number(values.senders);
const world = await startWorld();
try {
  const crowd = await slowCrowd(world, many, 8000);
  const ratio = p99(crowd.beside) / p99(crowd.alone);
  const isGood = crowd.seconds.length === many && crowd.seconds.at(-1)! < 35 && ratio <= 2;
  console.log(`${tellCrowd(crowd)}: ${ratio.toFixed(2)}×`);
  console.log(isGood ? "good" : "FAILED");
  process.exitCode = isGood ? 0 : 1;
} finally {
  await world.stop();
}
