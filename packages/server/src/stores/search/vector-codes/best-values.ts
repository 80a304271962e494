/** Finds the least of the best values that arrive one after another. */
export interface BestValues {
  /** @returns a value below which none of the best is; it rises, and is −∞ at first */
  add(value: number): number;
  /** Returns the least of the `count` best values; −∞ when there are fewer. */
  least(): number;
}

/** Holds as many other values as best ones, which are sorted out when the memory is full. */
export function createBestValues(count: number): BestValues {
  const values = new Float64Array(2 * count);
  let used = 0;
  let limit = Number.NEGATIVE_INFINITY;
  function cut(): void {
    values.subarray(0, used).sort();
    values.copyWithin(0, used - count, used);
    used = count;
    limit = values[0] as number;
  }
  return {
    add(value) {
      if (value > limit) {
        values[used] = value;
        used++;
        if (used === values.length) cut();
      }
      return limit;
    },
    least() {
      if (used >= count) cut();
      return limit;
    },
  };
}
