// Where each row begins, in pixels from the top of the list.
export function startsOf(rows: readonly { height: number }[]): number[] {
  let next = 0;
  return rows.map(({ height }) => {
    const start = next;
    next += height;
    return start;
  });
}

/** The row at an offset, found by halves. */
export function rowAt(starts: readonly number[], offset: number): number {
  let [first, last] = [0, starts.length - 1];
  while (first < last) {
    const middle = Math.ceil((first + last) / 2);
    if (starts[middle]! <= offset) first = middle;
    else last = middle - 1;
  }
  return first;
}
