import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { parseSync } from 'rolldown/utils';

/**
 * The length limits of functions. The own lines of a function exclude named functions inside it (declarations, and
 * functions assigned to a variable or a member), which count separately. A factory is therefore measured by its parts.
 * These parts share its variables, which a reader must know at the same time, so the whole factory has a limit as well.
 */
const mostOwnLines = 60;
const mostLinesInAll = 100;

/** Functions that exceed the limits. No entry may grow, and an entry that is no longer needed must be removed. */
const allowances: Readonly<Record<string, { readonly own?: number; readonly inAll?: number }>> = {};

interface Length {
  /** The file and the function's name. */
  readonly name: string;
  readonly own: number;
  readonly inAll: number;
}

const root = resolve(import.meta.dirname, '..');
const lengths = globSync(['packages/*/src/**/*.{ts,mts,tsx}', 'bundles/**/*.ts'], { cwd: root })
  .map(String)
  .filter((file) => !/\.(test|suite|fixture)\.tsx?$|\/testing\//.test(file))
  .sort()
  .flatMap(lengthsOf);

test('there are functions to measure', () => {
  assert.ok(lengths.length > 3000, `only ${lengths.length} functions found`);
});

test('no function is longer than its budget, or than its allowance', () => {
  const tooLong = lengths.filter(
    ({ name, own, inAll }) =>
      own > (allowances[name]?.own ?? mostOwnLines) || inAll > (allowances[name]?.inAll ?? mostLinesInAll),
  );
  assert.deepEqual(tooLong, []);
});

test('every allowance is still needed', () => {
  const needed = (name: string) =>
    lengths.some((one) => one.name === name && (one.own > mostOwnLines || one.inAll > mostLinesInAll));
  assert.deepEqual(
    Object.keys(allowances).filter((name) => !needed(name)),
    [],
  );
});

test('the lines of functions with a name count for themselves', () => {
  const source = [
    'export function createCounter() {',
    '  let count = 0;',
    '  function add() {',
    '    count += 1;',
    '  }',
    '  return {',
    '    add,',
    '    later() {',
    '      setTimeout(() => {',
    '        add();',
    '      }, 5);',
    '    },',
    '  };',
    '}',
  ];
  assert.deepEqual(measure('counter.ts', source.join('\n')), [
    { name: 'counter.ts add', own: 3, inAll: 3 },
    { name: 'counter.ts later', own: 5, inAll: 5 },
    { name: 'counter.ts createCounter', own: 6, inAll: 14 },
  ]);
});

test('a function without a name counts for itself when no function is around it', () => {
  const source = [
    'export const add = bind(() => {',
    '  count += 1;',
    '});',
    'export default () => {',
    '  add();',
    '};',
  ];
  assert.deepEqual(measure('add.ts', source.join('\n')), [
    { name: 'add.ts add', own: 3, inAll: 3 },
    { name: 'add.ts ', own: 3, inAll: 3 },
  ]);
});

function lengthsOf(file: string): Length[] {
  return measure(file, readFileSync(resolve(root, file), 'utf8'));
}

function measure(file: string, source: string): Length[] {
  const { program, errors } = parseSync(file, source);
  assert.deepEqual(errors, [], file);
  const found: Length[] = [];
  const lineOf = createLineOf(source);

  /** Returns the lines of the separately counted functions below and including this node. */
  function walk(node: unknown, name: string, isNamed: boolean, isInFunction: boolean): number {
    if (Array.isArray(node)) return node.reduce((sum: number, item) => sum + walk(item, name, false, isInFunction), 0);
    if (!isNode(node)) return 0;
    const own = nameOf(node.id) ?? nameOf(node.key) ?? name;
    const isFunction = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type);
    let counted = 0;
    for (const [key, value] of Object.entries(node)) {
      const isValue = (key === 'init' && node.type === 'VariableDeclarator') || key === 'value';
      counted += walk(value, own, isValue, isInFunction || isFunction);
    }
    // A function without a name counts as lines of the function around it.
    const isPart = isInFunction && !isNamed && node.type !== 'FunctionDeclaration';
    if (!isFunction || isPart) return counted;
    const inAll = lineOf(node.end) - lineOf(node.start) + 1;
    found.push({ name: `${file} ${own}`, own: inAll - counted, inAll });
    // A function on one line counts as a line of the surrounding function.
    return inAll === 1 ? 0 : inAll;
  }

  walk(program, '', false, false);
  return found;
}

interface SyntaxNode extends Record<string, unknown> {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function nameOf(node: unknown): string | null {
  return isNode(node) && typeof node.name === 'string' ? node.name : null;
}

/** Returns a function that maps a position to its line number, counted from 1. */
function createLineOf(source: string): (position: number) => number {
  const starts = [...source.matchAll(/\n/g)].map(({ index }) => index + 1);
  return (position) => {
    let from = 0;
    let to = starts.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((starts[middle] ?? Number.POSITIVE_INFINITY) <= position) from = middle + 1;
      else to = middle;
    }
    return from + 1;
  };
}
