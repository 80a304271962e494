import type { ErrorObject } from 'ajv/dist/2020.js';

/**
 * The engine reports every branch of an `anyOf` or `oneOf`. Keeps what the author or caller most likely meant: branches
 * of another type or of another `in: header | path | …` are left out; when nothing else remains, they become one error
 * that names all the alternatives.
 */
export function pruneUnions(errors: readonly ErrorObject[]): ErrorObject[] {
  let kept = [...errors];
  // An inner union is reported before the one around it.
  for (const union of errors) {
    if (union.keyword !== 'anyOf' && union.keyword !== 'oneOf') continue;
    if (!kept.includes(union) || isPassing(union)) continue;
    kept = pruneUnion(kept, union);
  }
  return kept;
}

/** Several branches of a `oneOf` match: no branch is to blame. */
function isPassing(union: ErrorObject): boolean {
  const passing: unknown = union.params.passingSchemas;
  return Array.isArray(passing);
}

function pruneUnion(errors: readonly ErrorObject[], union: ErrorObject): ErrorObject[] {
  const end = errors.indexOf(union);
  const branches = new Map<string, ErrorObject[]>();
  for (const error of errors.slice(0, end)) {
    const branch = branchOf(error, union);
    if (branch !== undefined) branches.set(branch, [...(branches.get(branch) ?? []), error]);
  }
  const ofBranches = new Set([...branches.values()].flat());
  const others = (list: readonly ErrorObject[]) => list.filter((error) => !ofBranches.has(error));
  return [...others(errors.slice(0, end)), ...bestOf([...branches.values()], union), ...errors.slice(end + 1)];
}

/** The number of the branch the error comes from; the target of a `$ref` counts as a branch of its own. */
function branchOf(error: ErrorObject, union: ErrorObject): string | undefined {
  const { instancePath, schemaPath } = error;
  const within = instancePath === union.instancePath || instancePath.startsWith(`${union.instancePath}/`);
  if (!within) return undefined;
  if (schemaPath.startsWith(`${union.schemaPath}/`)) {
    return schemaPath.slice(union.schemaPath.length + 1).split('/', 1)[0];
  }
  return schemaPath.startsWith('#/$defs/') ? schemaPath.split('/', 3).join('/') : undefined;
}

function bestOf(branches: readonly ErrorObject[][], union: ErrorObject): ErrorObject[] {
  const meant = branches.filter((branch) => !branch.some((error) => isTypeOf(error, union) || isTag(error, union)));
  if (meant.length > 0) return meant.reduce((best, branch) => (branch.length < best.length ? branch : best));
  const tagged = branches.filter((branch) => !branch.some((error) => isTypeOf(error, union)));
  const tags = tagged.map((branch) => branch.find((error) => isTag(error, union)));
  const tag = tags[0];
  if (tag !== undefined && tags.every((other) => other?.instancePath === tag.instancePath)) {
    // `const` holds one value, `enum` a list of them.
    const allowed: unknown[] = tags.flatMap((error) => error?.schema);
    return [{ ...tag, keyword: 'enum', schema: allowed }];
  }
  const types = branches.flatMap((branch) => branch.filter((error) => isTypeOf(error, union)));
  if (types.length > 0 && types.length === branches.length) {
    return [{ ...union, keyword: 'type', params: { type: types.flatMap((error) => error.params.type) } }];
  }
  return [union];
}

function isTypeOf(error: ErrorObject, union: ErrorObject): boolean {
  return error.keyword === 'type' && error.instancePath === union.instancePath;
}

/** A constant one level down that every branch has tells them apart, as `in` does for injections. */
function isTag(error: ErrorObject, union: ErrorObject): boolean {
  if (error.keyword !== 'const' && error.keyword !== 'enum') return false;
  if (error.instancePath === union.instancePath) return false;
  const name = error.instancePath.slice(union.instancePath.length + 1);
  const branches: readonly unknown[] = Array.isArray(union.schema) ? union.schema : [];
  return !name.includes('/') && branches.every((branch) => isConstantIn(branch, name));
}

/** Whether a branch allows few values for a member; one that stands elsewhere may. */
function isConstantIn(branch: unknown, name: string): boolean {
  const { $ref, properties }: { $ref?: unknown; properties?: unknown } = Object(branch);
  const member: unknown = Reflect.get(Object(properties), name);
  return $ref !== undefined || 'const' in Object(member) || 'enum' in Object(member);
}
