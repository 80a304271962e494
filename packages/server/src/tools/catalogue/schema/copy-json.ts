import type { ValidationError } from '../../../platform/validation/validation-error.ts';

export interface CopyBounds {
  readonly maxDepth: number;
  readonly maxNodes: number;
}

/** The bounds of inputs, also for plugins with recursive schemas. */
export const inputBounds: CopyBounds = { maxDepth: 64, maxNodes: 200_000 };

/** A BigInt of the value, which the copy has as a number. */
export interface ExactInteger {
  readonly segments: readonly string[];
  readonly value: bigint;
}

type Copied<T> =
  | { readonly copy: T; readonly nodes: number; readonly exact: readonly ExactInteger[] }
  | { readonly refusal: ValidationError };

/**
 * Copies JSON data deeply. Refuses values that are not JSON, exceed the bounds (recursive schemas follow the data), or contain the
 * name `__proto__`. That name would change the prototype of objects that a plugin merges the data into. A BigInt becomes a number,
 * because schemas know no other numbers; `exact` lists them.
 */
export function copyJson<T>(value: T, bounds: CopyBounds = inputBounds): Copied<T> {
  const state = { nodes: 0, bounds };
  const exact: ExactInteger[] = [];
  const refusal: { value?: ValidationError } = {};
  const copy = copyValue(value, [], { state, exact, refuse: (found) => (refusal.value ??= found) });
  // copyValue rebuilds every member, so the type stays the same.
  return refusal.value === undefined ? { copy: copy as T, nodes: state.nodes, exact } : { refusal: refusal.value };
}

interface CopyState {
  readonly state: { nodes: number; readonly bounds: CopyBounds };
  readonly exact: ExactInteger[];
  readonly refuse: (refusal: ValidationError) => void;
}

function copyValue(value: unknown, segments: string[], copying: CopyState): unknown {
  const { state } = copying;
  state.nodes++;
  if (state.nodes > state.bounds.maxNodes) {
    const { maxNodes } = state.bounds;
    copying.refuse({ segments: [], found: 'more', expected: `a value of at most ${maxNodes} nested values` });
    return undefined;
  }
  if (typeof value === 'bigint') {
    copying.exact.push({ segments: [...segments], value });
    return Number(value);
  }
  if (typeof value !== 'object' || value === null) {
    const refusal = { segments: [...segments], found: `a value of type ${typeof value}`, expected: 'a JSON value' };
    if (!isJsonScalar(value)) copying.refuse(refusal);
    return value;
  }
  if (segments.length >= state.bounds.maxDepth) {
    const { maxDepth } = state.bounds;
    const expected = `nested at most ${maxDepth} levels deep`;
    copying.refuse({ segments: segments.slice(0, 3), found: 'deeper nesting', expected });
    return undefined;
  }
  return Array.isArray(value) ? copyArray(value, segments, copying) : copyObject(value, segments, copying);
}

function copyArray(value: readonly unknown[], segments: string[], copying: CopyState): unknown[] {
  const copy: unknown[] = [];
  for (const [index, item] of value.entries()) {
    if (copying.state.nodes > copying.state.bounds.maxNodes) break;
    segments.push(String(index));
    copy.push(copyValue(item, segments, copying));
    segments.pop();
  }
  return copy;
}

const forbiddenName = { found: 'a reserved name', expected: 'named differently' };

function copyObject(value: object, segments: string[], copying: CopyState): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  if (!isPlain(value)) {
    copying.refuse({ segments: [...segments], found: 'an object of a class', expected: 'a JSON object' });
    return copy;
  }
  for (const [name, member] of Object.entries(value)) {
    if (copying.state.nodes > copying.state.bounds.maxNodes) break;
    segments.push(name);
    if (name === '__proto__') copying.refuse({ segments: [...segments], ...forbiddenName });
    else copy[name] = copyValue(member, segments, copying);
    segments.pop();
  }
  return copy;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isJsonScalar(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}
