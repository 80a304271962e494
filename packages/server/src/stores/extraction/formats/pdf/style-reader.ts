import type { Style, TextProbe } from './text-probe.ts';

/** Follows the style of the characters of a page. */
export interface StyleReader {
  /** @returns whether the character is in a different run from the one before it */
  move(at: number): boolean;
  current(): Style;
  /** Whether a third of the runs do not go from left to right. */
  isTurned(): boolean;
}

export function createStyleReader(probe: TextProbe): StyleReader {
  let style: Style = { bold: false, mono: false, size: 0, turned: false };
  let object = -1;
  let runs = 0;
  let turnedRuns = 0;
  return {
    move: (at) => {
      const next = probe.object(at);
      if (next === object || next === 0) return false;
      object = next;
      style = probe.style(at, object);
      runs += 1;
      if (style.turned) turnedRuns += 1;
      return true;
    },
    current: () => style,
    isTurned: () => turnedRuns * 3 > runs,
  };
}
