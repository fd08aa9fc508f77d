// A thousand slow uploads at once against a running Gesso: `npm run proof -- slowloris`, or `-- --senders 3000`. All
// must be cut off within 35 s, and normal uploads must take no more than twice as long beside them.
import { parseArgs } from "node:util";
import { startTestEnvironment } from "../support/test-environment.ts";
import { describeSlowUploads, measureSlowUploads, p99 } from "./slow-uploads.ts";

const { values } = parseArgs({ options: { senders: { type: "string", default: "1000" } } });
const senderCount = Number(values.senders);
const environment = await startTestEnvironment();
try {
  const crowd = await measureSlowUploads(environment, senderCount, 8000);
  const ratio = p99(crowd.healthyDuring) / p99(crowd.healthyAlone);
  const isGood = crowd.seconds.length === senderCount && crowd.seconds.at(-1)! < 35 && ratio <= 2;
  console.log(`${describeSlowUploads(crowd)}: ${ratio.toFixed(2)}×`);
  console.log(isGood ? "good" : "FAILED");
  process.exitCode = isGood ? 0 : 1;
} finally {
  await environment.stop();
}
