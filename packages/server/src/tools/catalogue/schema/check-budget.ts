/**
 * Limits on the text that a schema reads to check one value. The check blocks the event loop, and the callers and third parties that
 * choose the value must not block it for long. The numbers count UTF-16 code units.
 */
export const checkLimits = {
  /** One text that is matched against a pattern. */
  patternText: 64 * 1024,
  /** All texts of a value that are matched against patterns; a text counts once for each pattern. */
  patternTexts: 256 * 1024,
  /** The items that `uniqueItems` compares, as JSON; an item within an item counts for both. */
  comparedItems: 4 * 1024 * 1024,
} as const;

/** Ends the check of a value that exceeds a bound. */
export class CheckTooLarge extends Error {
  /** The text that exceeds its bound; null when the bound concerns the whole value. */
  readonly text: string | null;
  /** Completes "must be …". */
  readonly expected: string;

  constructor(text: string | null, expected: string) {
    super(`the value cannot be checked: it must be ${expected}`);
    this.text = text;
    this.expected = expected;
  }
}

/** Counts what one check reads. A check is synchronous, so one budget serves all checks of an engine, one after the other. */
export interface CheckBudget {
  /** Resets the counts before the check of another value. */
  reset(): void;
  /** @throws CheckTooLarge before a text that is too long is matched against a pattern */
  match(text: string): void;
  /** @throws CheckTooLarge when more is compared than allowed */
  compare(units: number): void;
}

export function createCheckBudget(): CheckBudget {
  const { patternText, patternTexts, comparedItems } = checkLimits;
  let matched = 0;
  let compared = 0;
  return {
    reset() {
      matched = 0;
      compared = 0;
    },
    match(text) {
      if (text.length > patternText) {
        throw new CheckTooLarge(
          text,
          `at most ${patternText} characters long, because a pattern or format applies to it`,
        );
      }
      matched += text.length;
      if (matched > patternTexts) {
        const expected = `a value with at most ${patternTexts} characters of text to which patterns and formats apply`;
        throw new CheckTooLarge(null, expected);
      }
    },
    compare(units) {
      compared += units;
      if (compared > comparedItems) {
        throw new CheckTooLarge(null, `a value with at most ${comparedItems} characters in arrays without duplicates`);
      }
    },
  };
}
