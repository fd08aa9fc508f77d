// A function that remembers its latest results by argument. The result that was asked for longest ago is forgotten
// first, so memory is bounded.
export function rememberResults<Result>(create: (key: string) => Result, limit: number): (key: string) => Result {
  const results = new Map<string, Result>();
  return (key) => {
    const result = results.get(key) ?? create(key);
    // A map lists its keys in the order of insertion.
    results.delete(key);
    results.set(key, result);
    if (results.size > limit) results.delete(results.keys().next().value!);
    return result;
  };
}
