import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseSync } from 'rolldown/utils';

export interface SyntaxNode extends Record<string, unknown> {
  readonly type: string;
}

/** A named function: a declaration, or an arrow function assigned to a constant. */
export interface NamedFunction {
  readonly name: string;
  readonly file: string;
  /** Names of the parameters; null for a destructured one. */
  readonly params: ReadonlyArray<string | null>;
  readonly isExported: boolean;
  readonly body: SyntaxNode;
}

export interface Visit {
  readonly node: SyntaxNode;
  /** The named functions around the node; the innermost is the last. */
  readonly functions: readonly NamedFunction[];
}

/** A parsed file: its nodes, named functions and constants. */
export interface SourceFile {
  readonly file: string;
  readonly visits: readonly Visit[];
  readonly functions: ReadonlyMap<string, NamedFunction>;
  /** Initial values of constants, by {@link constantKey}. */
  readonly constants: ReadonlyMap<string, SyntaxNode>;
  /** The imported names, each with its source file. */
  readonly imports: ReadonlyMap<string, string>;
  /** Calls of functions, by name. */
  readonly calls: ReadonlyMap<string, readonly Visit[]>;
}

/**
 * Returns the key of a constant.
 * @param owner the function that contains the constant; undefined at the top of the file
 */
export function constantKey(owner: NamedFunction | undefined, name: string): string {
  return `${owner?.name ?? ''}#${name}`;
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** Returns the name of an identifier; null for any other node. */
export function nameOf(node: unknown): string | null {
  return isNode(node) && typeof node.name === 'string' ? node.name : null;
}

export function readSource(file: string, text = readFileSync(file, 'utf8')): SourceFile {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed`);
  const visits: Visit[] = [];
  const functions = new Map<string, NamedFunction>();
  const constants = new Map<string, SyntaxNode>();
  const imports = new Map<string, string>();
  const calls = new Map<string, Visit[]>();

  function walk(value: unknown, around: readonly NamedFunction[], isExported: boolean): void {
    if (Array.isArray(value)) {
      for (const item of value) walk(item, around, isExported);
      return;
    }
    if (!isNode(value)) return;
    visits.push({ node: value, functions: around });
    const named = namedFunction(value, file, isExported);
    if (named !== null) functions.set(named.name, named);
    if (value.type === 'VariableDeclaration' && value.kind === 'const') addConstants(value, around.at(-1));
    if (value.type === 'ImportDeclaration') addImports(value);
    const called = value.type === 'CallExpression' ? nameOf(value.callee) : null;
    if (called !== null) {
      if (!calls.has(called)) calls.set(called, []);
      calls.get(called)?.push({ node: value, functions: around });
    }
    const inside = named === null ? around : [...around, named];
    const exports = value.type === 'ExportNamedDeclaration' || (isExported && value.type === 'VariableDeclaration');
    for (const member of Object.values(value)) walk(member, inside, exports);
  }
  function addConstants(declaration: SyntaxNode, owner: NamedFunction | undefined): void {
    for (const { id, init } of declaration.declarations as SyntaxNode[]) {
      if (isNode(init)) constants.set(constantKey(owner, nameOf(id) ?? ''), init);
    }
  }
  function addImports({ source, specifiers }: SyntaxNode): void {
    const path = isNode(source) ? String(source.value) : '';
    for (const { local } of specifiers as SyntaxNode[]) imports.set(nameOf(local) ?? '', basename(path));
  }
  walk(program, [], false);
  return { file, visits, functions, constants, imports, calls };
}

function namedFunction(node: SyntaxNode, file: string, isExported: boolean): NamedFunction | null {
  const written = node.type === 'VariableDeclarator' ? node.init : node;
  const name = nameOf(node.id);
  const isFunction = isNode(written) && /^(FunctionDeclaration|ArrowFunctionExpression)$/.test(written.type);
  if (!isFunction || name === null || !isNode(written.body) || !Array.isArray(written.params)) return null;
  const params = written.params.map((param) => nameOf(isNode(param) && isNode(param.left) ? param.left : param));
  return { name, file, params, isExported, body: written.body };
}
