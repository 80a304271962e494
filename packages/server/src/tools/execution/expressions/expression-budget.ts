/** An expression exceeded the step budget of its evaluation. Its value is unknown. */
export class ExpressionTooExpensive extends Error {
  constructor(where = 'expression') {
    super(`${where}: it takes more than ${mostSteps} steps, so it was stopped`);
    this.name = 'ExpressionTooExpensive';
  }

  /** Returns the same error with the name of the expression. */
  of(where: string): ExpressionTooExpensive {
    return new ExpressionTooExpensive(where);
  }
}

/**
 * The step budget of all expressions of one answer. A step is one visit of a node, one item or member that is listed, copied or compared, or
 * {@link charactersPerStep} characters that are read or written. A step takes at most about 100 ns and 64 bytes.
 */
export const mostSteps = 400_000;
/** The step budget on the event loop. An answer whose expressions need more is read again in the thread. */
export const mostStepsAtOnce = 50_000;
export const charactersPerStep = 16;

/** The steps for each member of a large object that is listed. */
export const membersCost = 3;

/** Counts the work of one evaluation. */
export interface ExpressionBudget {
  /** @throws ExpressionTooExpensive when the budget is exceeded */
  spend(steps: number): void;
  spendCharacters(count: number): void;
  /** Returns the number of members of an object. Only the first call for an object spends steps. */
  countMembers(object: object): number;
  readonly left: number;
}

export function createExpressionBudget(steps = mostSteps): ExpressionBudget {
  let remaining = steps;
  const members = new WeakMap<object, number>();

  function spend(count: number): void {
    remaining -= count;
    if (!(remaining >= 0)) throw new ExpressionTooExpensive();
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
      return remaining;
    },
  };
}
