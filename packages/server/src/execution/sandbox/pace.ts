/** Learns which handlers are quick: only behind such a run may another one wait inside a child. */
export interface Pace {
  /** How long a run of the handler took. */
  took(handlerUrl: string, ms: number): void;
  isQuick(handlerUrl: string): boolean;
}

const quickMs = 1;
/** What is not known counts as slow: about sixteen quick runs have to come first. */
const unknownMs = 8;

/** An average that rises at once and falls slowly: after one slow run many quick ones are needed. */
export function createPace(): Pace {
  const averages = new Map<string, number>();
  return {
    took: (handlerUrl, ms) => {
      const average = averages.get(handlerUrl) ?? unknownMs;
      averages.set(handlerUrl, ms > average ? ms : average + (ms - average) / 8);
    },
    isQuick: (handlerUrl) => (averages.get(handlerUrl) ?? unknownMs) < quickMs,
  };
}
