/** An expression exceeded the step budget of one evaluation. Its value is not known. */
export class ExpressionTooExpensive extends Error {
  constructor(where = 'expression') {
    super(`${where}: it takes more than ${mostSteps} steps, so it was stopped`);
    this.name = 'ExpressionTooExpensive';
  }

  /** The same, with the name of the expression. */
  of(where: string): ExpressionTooExpensive {
    return new ExpressionTooExpensive(where);
  }
}

/**
 * Steps of one evaluation. A step is one visit of a node, one item or member that is listed, copied or compared, or
 * {@link charactersPerStep} characters that are read or written: at most about 100 ns and 64 bytes.
 */
export const mostSteps = 400_000;
export const charactersPerStep = 16;

/** Listing a member of a large object takes longer than a step. */
export const membersCost = 3;

/** Counts the work of one evaluation. */
export interface ExpressionBudget {
  /** @throws ExpressionTooExpensive once more is spent than there was */
  spend(steps: number): void;
  spendCharacters(count: number): void;
  /** The number of members of an object; listing them is counted once. */
  countMembers(object: object): number;
  readonly left: number;
}

export function createExpressionBudget(steps = mostSteps): ExpressionBudget {
  let left = steps;
  const members = new WeakMap<object, number>();

  function spend(count: number): void {
    left -= count;
    if (!(left >= 0)) throw new ExpressionTooExpensive();
  }

  return {
    spend,
    spendCharacters: (count) => spend(1 + count / charactersPerStep),
    countMembers(object) {
      const known = members.get(object);
      if (known !== undefined) return known;
      const count = Object.keys(object).length;
      spend(membersCost * count);
      members.set(object, count);
      return count;
    },
    get left() {
      return left;
    },
  };
}
