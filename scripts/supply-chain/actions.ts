// Finds actions in a workflow that are named by a tag. A tag can be moved to other code; a commit cannot, so an action
// that is taken over changes nothing here.

const USES = /^\s*(?:- )?uses:\s*["']?([^\s"'#]+)["']?\s*(#.*)?$/gm;

export const findUnpinnedActions = (workflow: string): string[] =>
  [...workflow.matchAll(USES)].flatMap(([, action = "", comment = ""]) => {
    const isOwn = action.startsWith("./");
    const isPinned = /@[0-9a-f]{40}$/.test(action) && /^# v\d/.test(comment);
    return isOwn || isPinned ? [] : `${action} must be named by its commit, with its version in a comment`;
  });
