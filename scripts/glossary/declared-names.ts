import { parseSync } from 'rolldown/utils';

type Node = Readonly<Record<string, unknown>> & { readonly type: string };

/** Types of nodes that declare the name in `id`, or in `key` unless it is computed. */
const declarations = new Set([
  ...['FunctionDeclaration', 'FunctionExpression', 'TSDeclareFunction', 'ClassDeclaration', 'ClassExpression'],
  ...['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'TSEnumDeclaration', 'TSEnumMember', 'TSModuleDeclaration'],
]);
const members = new Set([
  ...['TSPropertySignature', 'TSMethodSignature', 'TSAbstractMethodDefinition', 'TSAbstractPropertyDefinition'],
  ...['PropertyDefinition', 'MethodDefinition', 'AccessorProperty'],
]);

/**
 * Returns every name that a TypeScript or JavaScript file gives: variables, parameters, functions, classes, types, their
 * members, functions in object literals, aliases of imports and exports, and namespaces. The values in object literals
 * are not included, because their names often belong to other programs.
 * @throws Error when the file cannot be parsed
 */
export function declaredNames(path: string, text: string): string[] {
  const { program, errors } = parseSync(path, text, { sourceType: 'module' });
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`);
  const names = new Set<string>();
  const pending: unknown[] = [program];
  while (pending.length > 0) {
    const value = pending.pop();
    if (Array.isArray(value)) pending.push(...value);
    else if (isNode(value)) {
      for (const name of namesOf(value)) names.add(name);
      pending.push(...Object.values(value));
    }
  }
  return [...names];
}

/** Returns the names that this node gives, without those of the nodes below it. */
function namesOf(node: Node): string[] {
  if (declarations.has(node.type)) return [...textOf(node.id), ...parameters(node)];
  if (members.has(node.type)) return node.computed === true ? [] : [...textOf(node.key), ...parameters(node)];
  switch (node.type) {
    case 'VariableDeclarator':
      return bound(node.id);
    case 'CatchClause':
      return bound(node.param);
    case 'TSParameterProperty':
      return bound(node.parameter);
    case 'TSTypeParameter':
      return textOf(node.name);
    case 'TSNamedTupleMember':
      return textOf(node.label);
    case 'Property':
      return isNode(node.value) && /Function/.test(node.value.type) && node.computed !== true ? textOf(node.key) : [];
    case 'ImportSpecifier':
    case 'ImportDefaultSpecifier':
    case 'ImportNamespaceSpecifier':
      return textOf(node.imported).includes(textOf(node.local)[0] ?? '') ? [] : textOf(node.local);
    case 'ExportSpecifier':
    case 'ExportAllDeclaration':
      return textOf(node.exported);
    default:
      return parameters(node);
  }
}

function parameters({ params }: Node): string[] {
  return Array.isArray(params) ? params.flatMap(bound) : [];
}

/** Returns the variables in a binding, such as `{ a: b, ...c }` with the variables b and c. */
function bound(pattern: unknown): string[] {
  if (Array.isArray(pattern)) return pattern.flatMap(bound);
  if (!isNode(pattern)) return [];
  switch (pattern.type) {
    case 'ObjectPattern':
      return bound(pattern.properties);
    case 'ArrayPattern':
      return bound(pattern.elements);
    case 'Property':
      return bound(pattern.value);
    case 'AssignmentPattern':
      return bound(pattern.left);
    case 'RestElement':
      return bound(pattern.argument);
    default:
      return textOf(pattern);
  }
}

/** Returns the name in an identifier or in a quoted key. */
function textOf(node: unknown): string[] {
  if (!isNode(node)) return [];
  const text = node.type === 'Literal' ? node.value : node.name;
  return typeof text === 'string' ? [text] : [];
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
