import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from 'rolldown/utils';

/** A regular expression of a source file. */
export interface Pattern {
  readonly file: string;
  readonly line: number;
  /** The source; null when it is composed at run time. */
  readonly source: string | null;
  readonly flags: string;
  /** The text of the comments on its line and directly above it. */
  readonly note: string;
}

/** Returns the files whose patterns are judged. The console is not among them, because it runs in the browser of its user. */
export function filesWithPatterns(root: string): string[] {
  const sources = ['packages/{server,cli,importers,plugin-kit,contract,client}/src/**/*.{ts,mjs}', 'bundles/**/*.ts'];
  return globSync(sources, { cwd: root })
    .map(String)
    .filter((file) => !/\.(?:test|suite|fixture)\.ts$|\/testing\//.test(file))
    .map((file) => join(root, file));
}

/** A node of the syntax tree. The type has only the members that this module reads. */
type Node = { readonly type: string; readonly start: number } & Readonly<Record<string, unknown>>;

/** Caches parsed files, because files that import each other share few constants. */
const parsed = new Map<string, ReturnType<typeof parse>>();

function parse(file: string, text: string) {
  const { program, comments, errors } = parseSync(file, text, { sourceType: 'module' });
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`);
  return { program: program as unknown as Node, comments };
}

function parseFile(file: string) {
  const known = parsed.get(file) ?? parse(file, readFileSync(file, 'utf8'));
  parsed.set(file, known);
  return known;
}

/**
 * Returns every regular expression of a TypeScript file: literals, calls of `RegExp` with a text that is known without
 * running the program, and texts of members named `pattern`, which schemas have.
 */
export function findPatterns(file: string, text = readFileSync(file, 'utf8')): Pattern[] {
  const { program, comments } = parse(file, text);
  const lineOf = (at: number) => text.slice(0, at).split('\n').length;
  const notes = comments.map(({ value, start, end }) => ({ value, first: lineOf(start), last: lineOf(end) }));
  const noteOf = (line: number): string => {
    const beside = notes.filter(({ last }) => last === line || last === line - 1);
    return beside.map(({ value }) => value).join(' ');
  };
  return [...walk(program)].flatMap((node) => {
    const found = patternOf(node, (part) => constantOf(part, file, program));
    if (found === undefined) return [];
    const line = lineOf(node.start);
    return { file, line, ...found, note: noteOf(line) };
  });
}

type Evaluate = (node: unknown) => string | undefined;

function patternOf(node: Node, evaluate: Evaluate): { source: string | null; flags: string } | undefined {
  if (node.type === 'Literal' && isNode(node.regex, false)) {
    const { pattern, flags } = node.regex as unknown as { pattern: string; flags: string };
    return { source: pattern, flags };
  }
  if (node.type === 'NewExpression' || node.type === 'CallExpression') {
    if ((node.callee as Node).name !== 'RegExp') return undefined;
    const [source, flags] = node.arguments as Node[];
    // A copied literal is found separately.
    if (source?.type === 'Literal' && 'regex' in source) return undefined;
    const [known, knownFlags] = [evaluate(source), flags === undefined ? '' : evaluate(flags)];
    return { source: knownFlags === undefined ? null : (known ?? null), flags: knownFlags ?? '' };
  }
  if (node.type !== 'Property' || (node.key as Node).name !== 'pattern') return undefined;
  const source = evaluate(node.value);
  return source === undefined ? undefined : { source, flags: 'u' };
}

/** Returns the text of an expression of constants, from the file or from files that it imports by path. */
function constantOf(node: unknown, file: string, program: Node): string | undefined {
  if (!isNode(node)) return undefined;
  const evaluate = (part: unknown) => constantOf(part, file, program);
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'string' || typeof node.value === 'number' ? String(node.value) : undefined;
    case 'TemplateLiteral': {
      const quasis = (node.quasis as Array<{ value: { cooked: string } }>).map(({ value }) => value.cooked);
      const parts = (node.expressions as Node[]).map(evaluate);
      if (parts.includes(undefined)) return undefined;
      return quasis.map((quasi, at) => `${quasi}${parts[at] ?? ''}`).join('');
    }
    case 'BinaryExpression': {
      const [left, right] = [evaluate(node.left), evaluate(node.right)];
      if (node.operator !== '+' || left === undefined || right === undefined) return undefined;
      return isNumber(left) && isNumber(right) ? String(Number(left) + Number(right)) : left + right;
    }
    case 'CallExpression':
      return joinedArray(node, evaluate);
    case 'Identifier':
      return namedConstant(String(node.name), file, program);
    default:
      return undefined;
  }
}

/** Evaluates `[…].join('|')`. */
function joinedArray(call: Node, evaluate: Evaluate): string | undefined {
  const { object, property } = call.callee as unknown as { object?: Node; property?: Node };
  if (object?.type !== 'ArrayExpression' || property?.name !== 'join') return undefined;
  const parts = (object.elements as Node[]).map(evaluate);
  const separator = evaluate((call.arguments as Node[])[0]);
  return parts.includes(undefined) || separator === undefined ? undefined : parts.join(separator);
}

function namedConstant(name: string, file: string, program: Node): string | undefined {
  for (const statement of program.body as Node[]) {
    const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    if (isNode(declaration) && declaration.type === 'VariableDeclaration' && declaration.kind === 'const') {
      const found = (declaration.declarations as Node[]).find(({ id }) => (id as Node).name === name);
      if (found !== undefined) return constantOf(found.init, file, program);
    }
    if (statement.type !== 'ImportDeclaration') continue;
    const path = (statement.source as Node).value as string;
    const isImported = (statement.specifiers as Node[]).some(({ local }) => (local as Node).name === name);
    if (!isImported || !path.startsWith('.')) continue;
    const other = join(dirname(file), path);
    return namedConstant(name, other, parseFile(other).program);
  }
  return undefined;
}

function* walk(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const part of value) yield* walk(part);
  else if (isNode(value)) {
    yield value;
    for (const part of Object.values(value)) yield* walk(part);
  }
}

function isNode(value: unknown, isTyped = true): value is Node {
  return typeof value === 'object' && value !== null && (!isTyped || 'type' in value);
}

function isNumber(text: string): boolean {
  return /^\d+$/.test(text);
}
