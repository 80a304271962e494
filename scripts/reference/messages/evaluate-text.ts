import { constantKey, isNode, type NamedFunction, nameOf, type SourceFile, type SyntaxNode } from './source-file.ts';

/** Stands in a message where a value is filled in. */
export const gap = '…';
const mostVariants = 12;

/** Returns the mark of a parameter. The argument of a call replaces it. */
export function parameterMark(owner: NamedFunction, index: number): string {
  return `\u0001${owner.file}#${owner.name}#${index}\u0002`;
}

export const anyMark = /\u0001([^\u0002]*)#(\d+)\u0002/g;

interface Place {
  readonly source: SourceFile;
  readonly functions: readonly NamedFunction[];
  readonly depth?: number;
}

/**
 * Returns every possible text of an expression. A value that is known only at run time is a {@link gap}; a parameter is
 * a mark.
 */
export function evaluateText(node: unknown, place: Place): string[] {
  const { depth = 0 } = place;
  if (!isNode(node) || depth > 6) return [gap];
  const inside = { ...place, depth: depth + 1 };
  switch (node.type) {
    case 'Literal':
      if (node.value === null) return [];
      return [typeof node.value === 'string' || typeof node.value === 'number' ? String(node.value) : gap];
    case 'TemplateLiteral':
      return evaluateTemplate(node, inside);
    case 'BinaryExpression':
      return node.operator === '+' && !isNumber(node.left) && !isNumber(node.right)
        ? combine([evaluateText(node.left, inside), evaluateText(node.right, inside)])
        : [gap];
    case 'ConditionalExpression':
      return unique([...evaluateText(node.consequent, inside), ...evaluateText(node.alternate, inside)]);
    case 'LogicalExpression':
      // A number on the right is the default of a value that the type allows to be absent.
      return unique([
        ...evaluateText(node.left, inside),
        ...(isNumber(node.right) ? [] : evaluateText(node.right, inside)),
      ]);
    case 'TSAsExpression':
    case 'TSNonNullExpression':
    case 'ParenthesizedExpression':
      return evaluateText(node.expression, inside);
    case 'Identifier':
      return evaluateName(String(node.name), inside);
    case 'CallExpression':
      return evaluateCall(node, inside);
    case 'MemberExpression':
      return evaluateMember(node, inside);
    default:
      return [gap];
  }
}

/** Returns the texts of an argument. One with a word as its default, such as `value || 'word'`, is a gap. */
export function evaluateArgument(node: unknown, place: Place): string[] {
  const fallback =
    isNode(node) && node.type === 'LogicalExpression' && isNode(node.right) ? node.right.value : undefined;
  return typeof fallback === 'string' && /^\w+$/.test(fallback) ? [gap] : evaluateText(node, place);
}

/** Returns every member of a constant object, for example of a list of texts by name. */
function evaluateMember(node: SyntaxNode, place: Place): string[] {
  const constant = isNode(node.object)
    ? place.source.constants.get(constantKey(undefined, nameOf(node.object) ?? ''))
    : undefined;
  const value = constant?.type === 'TSAsExpression' ? constant.expression : constant;
  if (node.computed !== true || !isNode(value) || value.type !== 'ObjectExpression') return [gap];
  const texts = (value.properties as SyntaxNode[]).flatMap((member) => evaluateText(member.value, place));
  // Single words are often values, not parts of sentences.
  return texts.every((text) => text.includes(' ')) ? unique(texts) : [gap];
}

function isNumber(node: unknown): boolean {
  return isNode(node) && node.type === 'Literal' && typeof node.value === 'number';
}

function evaluateTemplate(node: SyntaxNode, place: Place): string[] {
  const quasis = (node.quasis as Array<{ readonly value: { readonly cooked: string } }>).map(
    ({ value }) => value.cooked,
  );
  const parts = quasis.flatMap((text, index) => {
    const expression = (node.expressions as unknown[])[index];
    return expression === undefined ? [[text]] : [[text], evaluateText(expression, place)];
  });
  return combine(parts);
}

function evaluateName(name: string, place: Place): string[] {
  // The pages show the form of an installed package.
  if (name === 'commandName') return ['quartermaster'];
  for (const owner of place.functions.toReversed()) {
    const index = owner.params.indexOf(name);
    if (index !== -1) return [parameterMark(owner, index)];
  }
  for (const owner of [...place.functions.toReversed(), undefined]) {
    const value = place.source.constants.get(constantKey(owner, name));
    if (value !== undefined) return evaluateText(value, place);
  }
  return [gap];
}

/** Evaluates a call of a function of the same file by what the function returns for the arguments of the call. */
function evaluateCall(node: SyntaxNode, place: Place): string[] {
  const called = place.source.functions.get(nameOf(node.callee) ?? '');
  if (called === undefined) return [gap];
  const passed = (node.arguments as unknown[]).map((argument) => evaluateText(argument, place));
  const texts = returnedBy(called.body)
    .flatMap((value) => evaluateText(value, { ...place, functions: [called] }))
    .flatMap((text) => fillIn(text, called, passed));
  return texts.length === 0 ? [gap] : unique(texts);
}

/** Replaces each parameter of a function by every text of its argument. */
function fillIn(text: string, owner: NamedFunction, passed: readonly string[][]): string[] {
  let texts = [text];
  for (const index of owner.params.keys()) {
    const mark = parameterMark(owner, index);
    const values = passed[index] ?? [gap];
    texts = texts.flatMap((one) => (one.includes(mark) ? values.map((value) => one.replaceAll(mark, value)) : [one]));
  }
  return texts.slice(0, mostVariants);
}

function returnedBy(body: SyntaxNode): unknown[] {
  if (body.type !== 'BlockStatement') return [body];
  const found: unknown[] = [];
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) walk(item);
    if (!isNode(value) || /Function/.test(value.type)) return;
    if (value.type === 'ReturnStatement') found.push(value.argument);
    for (const member of Object.values(value)) walk(member);
  };
  walk(body);
  return found;
}

/** Returns every concatenation of one text from each part. */
function combine(parts: readonly string[][]): string[] {
  let texts = [''];
  for (const part of parts) texts = texts.flatMap((text) => part.map((next) => text + next)).slice(0, mostVariants);
  return unique(texts.map((text) => text.replace(/…+/g, gap)));
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
