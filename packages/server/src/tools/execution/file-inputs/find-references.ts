import { isJsonObject } from '../../../platform/json/json-object.ts';
import { type FileReference, isFileContent, readFileReference } from '../../catalogue/file-references.ts';
import { resolvePointer } from '../../catalogue/schema/check-references.ts';
import { isShallow, maxOutputDepth } from '../json-bounds.ts';
import { tokenOf, visitTexts } from '../output-parts/find-parts.ts';

/** A value of an input that names a file or an artifact. */
export interface ReferencePlace {
  /** JSON Pointer in the input. */
  readonly path: string;
  readonly reference: FileReference;
  /** The media type that the schema requires. */
  readonly mediaType: string | undefined;
  /** The characters of base64 that the schema requires. */
  readonly minLength: number;
  readonly maxLength: number;
}

/** Bounds the steps for schemas that apply many subschemas to the same value. */
const maxSteps = 20_000;
const maxInPlace = 32;
const inPlaceKeywords = ['allOf', 'anyOf', 'oneOf'];

/** Finds the references of an input, only where its schema describes file content. Other texts are never references. */
export function findReferences(
  root: () => Readonly<Record<string, unknown>>,
  input: Readonly<Record<string, unknown>>,
): ReferencePlace[] {
  // A deeper input is refused later, with its own error.
  if (!isShallow(input, maxOutputDepth) || !holdsReference(input)) return [];
  const schema = root();
  const found = new Map<string, ReferencePlace>();
  let steps = 0;

  function visit(node: unknown, value: unknown, { path, inPlace }: { path: string; inPlace: number }): void {
    steps += 1;
    if (!isJsonObject(node) || steps > maxSteps || inPlace > maxInPlace) return;
    if (typeof value === 'string' && isFileContent(node)) {
      const reference = readFileReference(value);
      const { contentMediaType: type, minLength: least, maxLength: most } = node;
      const mediaType = typeof type === 'string' ? type : undefined;
      const minLength = typeof least === 'number' ? least : 0;
      const maxLength = typeof most === 'number' ? most : Number.POSITIVE_INFINITY;
      if (reference !== undefined) found.set(path, { path, reference, mediaType, minLength, maxLength });
    }
    const same = { path, inPlace: inPlace + 1 };
    if (typeof node.$ref === 'string') visit(resolvePointer(node.$ref, schema), value, same);
    for (const keyword of inPlaceKeywords) {
      const branches = node[keyword];
      if (Array.isArray(branches)) for (const branch of branches) visit(branch, value, same);
    }
    for (const keyword of ['then', 'else']) visit(node[keyword], value, same);
    for (const { name, member, child } of membersOf(node, value)) {
      visit(child, member, { path: `${path}/${tokenOf(name)}`, inPlace: 0 });
    }
  }

  visit(schema, input, { path: '', inPlace: 0 });
  return [...found.values()];
}

function holdsReference(input: unknown): boolean {
  return !visitTexts(input, (text) => readFileReference(text) === undefined);
}

interface Member {
  readonly name: string;
  readonly member: unknown;
  readonly child: unknown;
}

/** The members of a value, each with the schema that applies to it. */
function membersOf(node: Readonly<Record<string, unknown>>, value: unknown): Member[] {
  if (Array.isArray(value)) {
    const first: readonly unknown[] = Array.isArray(node.prefixItems) ? node.prefixItems : [];
    return value.map((member, index) => ({ name: String(index), member, child: first[index] ?? node.items }));
  }
  if (!isJsonObject(value)) return [];
  const properties = Object(node.properties);
  return Object.entries(value).map(([name, member]) => ({
    name,
    member,
    child: Object.hasOwn(properties, name) ? properties[name] : node.additionalProperties,
  }));
}
