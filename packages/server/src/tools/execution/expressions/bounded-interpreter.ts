import jmespath, { type JSONValue } from '@jmespath-community/jmespath';
import {
  createExpressionBudget,
  type ExpressionBudget,
  ExpressionTooExpensive,
  membersCost,
} from './expression-budget.ts';
import { spendCall } from './expression-functions.ts';
import {
  areEqualNumbers,
  calculate,
  calculateSign,
  callWithIntegers,
  compareIntegers,
  orderByNumbers,
} from './expression-integers.ts';
import { compareTexts, countCodePoints, htmlText, trimText } from './expression-texts.ts';

export type Expression = ReturnType<typeof jmespath.compile>;

type Args = unknown[];
type Signature = ReadonlyArray<{ readonly types: readonly number[] }>;

/** The members of the library's interpreter that this module uses. The library does not export the class. */
interface Interpreter {
  readonly runtime: {
    readonly _functionTable: Record<string, { _func: (args: Args) => unknown; _signature: Signature }>;
    callFunction(name: string, args: Args): unknown;
  };
  _scope: { withScope(scope: unknown): Interpreter['_scope'] };
  visit(node: Expression, value: unknown): unknown;
  withScope(scope: unknown): Interpreter;
  computeSliceParams(length: number, node: Expression): { start: number; stop: number; step: number };
  search(node: Expression, value: unknown): unknown;
}

const Base = jmespath.TreeInterpreter.constructor as unknown as new () => Interpreter;

/**
 * Evaluates expressions as the library does, and spends steps before each visit and each item. The steps bound the time on the event
 * loop. A thread that is terminated after a time was rejected: a call took 1.4 times the processor time, the thread 58 MiB, and one
 * expression could hold it for seconds while the calls of other projects wait. Functions of the library whose
 * work causes no visits are reimplemented here.
 */
class BoundedInterpreter extends Base {
  budget: ExpressionBudget = createExpressionBudget(0);
  mismatches: Mismatches | undefined;
  scopeDepth = 0;

  /** Keeps the bounds in inner scopes: the library would create an interpreter that does not count steps. */
  override withScope(scope: unknown): Interpreter {
    this.budget.spend(8);
    const inner: BoundedInterpreter = Object.create(this);
    inner._scope = this._scope.withScope(scope);
    inner.scopeDepth = this.scopeDepth + 1;
    return inner;
  }

  override visit(node: Expression, value: unknown): unknown {
    this.budget.spend(1);
    switch (node.type) {
      case 'Ternary':
        return this.visit(this.isFalse(this.visit(node.condition, value)) ? node.falseExpr : node.trueExpr, value);
      case 'OrExpression': {
        const left = this.visit(node.left, value);
        return this.isFalse(left) ? this.visit(node.right, value) : left;
      }
      case 'AndExpression': {
        const left = this.visit(node.left, value);
        return this.isFalse(left) ? left : this.visit(node.right, value);
      }
      case 'NotExpression':
        return this.isFalse(this.visit(node.child, value));
      case 'FilterProjection':
        return this.filter(node, value);
      case 'ValueProjection': {
        const base = this.visit(node.left, value);
        if (typeof base !== 'object' || base === null || Array.isArray(base)) return null;
        this.budget.spend(membersCost * this.budget.countMembers(base));
        return this.project(Object.values(base), node.right);
      }
      case 'MultiSelectList':
      case 'MultiSelectHash':
      case 'ExpressionReference':
        // One step for the new object.
        this.budget.spend(1);
        return super.visit(node, value);
      case 'Flatten':
        return this.flatten(this.visit(node.child, value));
      case 'Slice':
        this.spendSlice(node, value);
        return super.visit(node, value);
      case 'LetExpression':
        // Each binding copies the ones before it.
        this.budget.spend(node.bindings.length ** 2);
        return super.visit(node, value);
      case 'Variable':
        this.budget.spend(this.scopeDepth);
        return super.visit(node, value);
      case 'Comparator':
        return this.compare(node.name, this.visit(node.left, value), this.visit(node.right, value));
      case 'Arithmetic':
        return this.calculate(node.operator, [this.visit(node.left, value), this.visit(node.right, value)]);
      case 'Unary':
        return this.calculate(node.operator, [this.visit(node.operand, value)]);
      case 'Function': {
        const args = node.children.map((child) => this.visit(child, value));
        spendCall(node.name, args, this.budget);
        const call = () => callWithIntegers(node.name, args) ?? this.runtime.callFunction(node.name, args);
        return this.nullUnlessFitting(`${node.name}()`, args, call);
      }
      default:
        return super.visit(node, value);
    }
  }

  private calculate(operator: string, operands: Args): unknown {
    return this.nullUnlessFitting(operator, operands, () =>
      operands.length === 1 ? calculateSign(operator, operands[0]) : calculate(operator, operands[0], operands[1]),
    );
  }

  /** The library ends the whole expression when one operand does not fit. */
  private nullUnlessFitting(name: string, operands: Args, operate: () => unknown): unknown {
    if (this.mismatches === undefined) return operate();
    try {
      return operate();
    } catch (error) {
      if (error instanceof ExpressionTooExpensive) throw error;
      const isAbsent = operands.some((operand) => operand === null || operand === undefined);
      if (!isAbsent && this.mismatches.size < mostMismatches) this.mismatches.add(name);
      return null;
    }
  }

  private filter(node: Extract<Expression, { type: 'FilterProjection' }>, value: unknown): unknown {
    const base = this.visit(node.left, value);
    if (!Array.isArray(base)) return null;
    const matching = base.filter((item) => !this.isFalse(this.visit(node.condition, item)));
    return this.project(matching, node.right);
  }

  private project(items: readonly unknown[], right: Expression): unknown[] {
    const collected: unknown[] = [];
    for (const item of items) {
      const current = this.visit(right, item);
      if (current !== null) collected.push(current);
    }
    return collected;
  }

  private flatten(value: unknown): unknown {
    if (!Array.isArray(value)) return null;
    this.budget.spend(value.length);
    for (const item of value) if (Array.isArray(item)) this.budget.spend(item.length);
    return value.flat();
  }

  private spendSlice(node: Extract<Expression, { type: 'Slice' }>, value: unknown): void {
    if (typeof value === 'string') this.budget.spend(value.length);
    if (!Array.isArray(value) || node.step === 0) return;
    const { start, stop, step } = this.computeSliceParams(value.length, node);
    this.budget.spend(Math.max(0, Math.ceil((stop - start) / step)));
  }

  private isFalse(value: unknown): boolean {
    if (value === null || value === undefined || value === false || value === '') return true;
    if (typeof value !== 'object') return false;
    return Array.isArray(value) ? value.length === 0 : this.budget.countMembers(value) === 0;
  }

  /** Compares two values. Only numbers have an order; for other values, an order comparison gives null. */
  private compare(name: string, left: unknown, right: unknown): boolean | null {
    if (name === 'EQ' || name === 'NE') return this.equals(left, right) === (name === 'EQ');
    return compareIntegers(name, left, right) ?? null;
  }

  private equals(left: unknown, right: unknown): boolean {
    this.budget.spend(1);
    if (typeof left === 'string' && typeof right === 'string' && left.length === right.length) {
      this.budget.spendCharacters(left.length);
    }
    if (left === right || areEqualNumbers(left, right)) return true;
    if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
    if (Array.isArray(left) && Array.isArray(right)) {
      return left.length === right.length && left.every((item, index) => this.equals(item, right[index]));
    }
    if (Array.isArray(left) || Array.isArray(right)) return false;
    const count = this.budget.countMembers(left);
    if (count !== this.budget.countMembers(right)) return false;
    this.budget.spend(membersCost * count);
    return Object.keys(left).every(
      (name) => Object.hasOwn(right, name) && this.equals(Reflect.get(left, name), Reflect.get(right, name)),
    );
  }
}

/** The library's number for arguments of any type. */
const anyType = 1;

const interpreter = new BoundedInterpreter();
replaceFunctions(interpreter);

/** Names of functions and operators that got operands of other types. An absent operand is none of them. */
export type Mismatches = Set<string>;
/** The maximum number of names. */
const mostMismatches = 10;

/**
 * @param mismatches with it, a function or operator whose operands do not fit gives null, because APIs leave out members and change
 * their types. Without it, it ends the evaluation as the library does.
 * @throws ExpressionTooExpensive when the budget is spent, and an Error when the expression does not fit the value
 */
export function evaluateExpression(
  expression: Expression,
  value: JSONValue,
  budget = createExpressionBudget(),
  mismatches?: Mismatches,
): unknown {
  interpreter.budget = budget;
  interpreter.mismatches = mismatches;
  return interpreter.search(expression, value);
}

/** Replaces the library's functions that pass over a text more than once. The replacements return the same results, except
 * `to_number` of an empty text. */
function replaceFunctions(of: BoundedInterpreter): void {
  const table = of.runtime._functionTable;
  const replace = (name: string, wrap: (original: (args: Args) => unknown) => (args: Args) => unknown) => {
    const entry = table[name];
    if (entry === undefined) throw new Error(`JMESPath has no function ${name}()`);
    entry._func = wrap(entry._func);
  };
  replace('length', () => ([value]) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return of.budget.countMembers(value);
    if (typeof value !== 'string') return (value as unknown[]).length;
    of.budget.spendCharacters(value.length);
    return countCodePoints(value);
  });
  for (const [name, ends] of [
    ['trim', { left: true, right: true }],
    ['trim_left', { left: true, right: false }],
    ['trim_right', { left: false, right: true }],
  ] as const) {
    replace(
      name,
      () =>
        ([text, characters]) =>
          trimText(String(text), typeof characters === 'string' && characters !== '' ? characters : undefined, ends),
    );
  }
  // The library reads an empty text as 0. A number that the third party left empty is unknown.
  replace(
    'to_number',
    (original) =>
      ([value]) =>
        typeof value === 'string' && value.trim() === '' ? null : original([value]),
  );
  table.html_text = {
    _func: ([html]) => (typeof html === 'string' ? htmlText(html) : null),
    _signature: [{ types: [anyType] }],
  };
  replace('sort', (original) => (args) => {
    const items = args[0] as unknown[];
    if (typeof items[0] !== 'string') return original(args);
    return (items as string[]).toSorted((a, b) => compareTexts(a, b, of.budget));
  });
  replace('sort_by', (original) => ([items, key]) => {
    const list = items as unknown[];
    const keyOf = (item: unknown) => of.visit(key as Expression, item);
    if (list.length < 2) return original([items, key]);
    const keyed = list.map((item) => ({ item, key: keyOf(item) }));
    // The library reports keys of other types.
    if (typeof keyed[0]?.key !== 'string') return orderByNumbers('sort_by', keyed) ?? original([items, key]);
    const byText = keyed.map(({ item, key }) => ({ item, key: textOf(key) }));
    return byText.sort((a, b) => compareTexts(a.key, b.key, of.budget)).map(({ item }) => item);
  });
  for (const name of ['max_by', 'min_by']) {
    replace(name, (original) => ([items, key]) => {
      const list = items as unknown[];
      const keyed = list.map((item) => ({ item, key: of.visit(key as Expression, item) }));
      return (keyed.length > 0 ? orderByNumbers(name, keyed) : undefined) ?? original([items, key]);
    });
  }
}

/** The sort key of an item when the first item's key is a string. @throws Error when the key is not a string */
function textOf(key: unknown): string {
  if (typeof key === 'string') return key;
  throw new Error(`Invalid type: expected (string), received ${key === null ? 'null' : typeof key}`);
}
