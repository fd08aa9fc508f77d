import { expect, it } from "vitest";
import { findUnpinnedActions } from "./actions.ts";

const COMMIT = "11d5960a326750d5838078e36cf38b85af677262";

it("an action by tag, by branch, or by a commit of which no version is known is found", () => {
  const workflow = `
    steps:
      - uses: actions/checkout@v4
      - name: Build
        uses: "docker/build-push-action@main"
      - uses: actions/setup-node@${COMMIT}
`;
  expect(findUnpinnedActions(workflow).map((each) => each.split(" ")[0])).toEqual([
    "actions/checkout@v4",
    "docker/build-push-action@main",
    `actions/setup-node@${COMMIT}`,
  ]);
});

it("an action by commit with its version, and an action of the repository itself, are no violations", () => {
  expect(findUnpinnedActions(`- uses: actions/checkout@${COMMIT} # v4.4.0\n- uses: ./.github/actions/build\n`)).toEqual(
    [],
  );
});
