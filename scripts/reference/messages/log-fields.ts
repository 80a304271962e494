import { isLogCall } from './collect-messages.ts';
import { constantKey, isNode, nameOf, type SourceFile, type Visit } from './source-file.ts';

/** Returns the names of all fields of log lines that an object in the code lists, also those of nested objects. */
export function findLogFields(sources: readonly SourceFile[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const source of sources) {
    for (const { node, functions } of source.visits) {
      if (!isLogCall(node)) continue;
      const [fields] = node.arguments as unknown[];
      addNames({ value: fields, source, functions, found });
    }
  }
  return found;
}

interface Search {
  readonly value: unknown;
  readonly source: SourceFile;
  readonly functions: Visit['functions'];
  readonly found: Set<string>;
}

/** Follows spreads, conditions and constants of the same file. Values of other expressions are left out. */
function addNames({ value, ...search }: Search): void {
  if (!isNode(value)) return;
  const follow = (next: unknown) => addNames({ value: next, ...search });
  if (value.type === 'ObjectExpression') {
    for (const member of value.properties as Array<Record<string, unknown>>) {
      const name = nameOf(member.key);
      if (name !== null) search.found.add(name);
      follow(
        name === null
          ? member.argument
          : isNode(member.value) && member.value.type === 'ObjectExpression' && member.value,
      );
    }
  }
  if (value.type === 'ConditionalExpression') for (const branch of [value.consequent, value.alternate]) follow(branch);
  if (value.type === 'LogicalExpression') follow(value.right);
  if (value.type === 'ParenthesizedExpression') follow(value.expression);
  if (value.type !== 'Identifier') return;
  const owners = [...search.functions.map((owner) => owner), undefined];
  for (const owner of owners) follow(search.source.constants.get(constantKey(owner, nameOf(value) ?? '')));
}
