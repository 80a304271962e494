/** Longer texts do not fit in. */
const longestText = 65_536;

/**
 * A text as the numbers of its characters. Those who look at each character several times find it here in a third of the
 * time: a string has to be asked each time how it is stored.
 */
export interface CodeBuffer {
  /** The codes of the text put in last, and older ones behind them. */
  readonly codes: Uint16Array;
  /** @returns whether all of it is ASCII. Of a text that is too long nothing is put in. */
  put(text: string): boolean;
}

export function createCodeBuffer(): CodeBuffer {
  const codes = new Uint16Array(longestText);
  return {
    codes,
    put: (text) => {
      if (text.length > longestText) return false;
      let all = 0;
      for (let at = 0; at < text.length; at += 1) {
        const code = text.charCodeAt(at);
        codes[at] = code;
        all |= code;
      }
      return all < 0x80;
    },
  };
}
