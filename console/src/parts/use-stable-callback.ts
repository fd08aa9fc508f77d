// A function that stays the same between renders and calls the newest version of another. With it, parts of a large
// page that have not changed are not rendered anew.
import { useCallback, useLayoutEffect, useRef } from "react";

export function useStableCallback<Parameters extends unknown[], Result>(
  callback: (...parameters: Parameters) => Result,
): (...parameters: Parameters) => Result {
  const newest = useRef(callback);
  useLayoutEffect(() => {
    newest.current = callback;
  });
  return useCallback((...parameters: Parameters) => newest.current(...parameters), []);
}
