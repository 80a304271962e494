import type { ErrorObject } from 'ajv';
import { isJsonObject } from '../json/json-object.ts';

/**
 * Keeps the errors that help the reader. AJV reports every branch of a union, but the author meant one of them. The tag (`type`,
 * `in`, …) or the type of the value identifies that branch, and the errors of the others are dropped. Without a match, one error
 * names the alternatives. The errors of a union precede the union's own error, so one pass suffices.
 * @param root the validated schema, to resolve references
 */
export function bestMatchErrors(errors: readonly ErrorObject[], root: object): ErrorObject[] {
  const remaining: ErrorObject[] = [];
  for (const error of errors) {
    switch (error.keyword) {
      case 'anyOf':
      case 'oneOf':
        for (const best of bestOf(takeBranches(remaining, error), { union: error, root })) remaining.push(best);
        break;
      case 'contains':
        takeInner(remaining, error);
        remaining.push(error);
        break;
      case 'propertyNames': {
        const [inner] = takeInner(remaining, error);
        remaining.push({ ...error, params: { ...error.params, inner: inner ?? error } });
        break;
      }
      case 'if':
        // This error only refers to `then` or `else`, whose errors precede it.
        if (remaining.length === 0) remaining.push(error);
        break;
      default:
        remaining.push(error);
    }
  }
  return remaining;
}

/** Removes the errors that led to this one from the end of the list. */
function takeInner(remaining: ErrorObject[], { instancePath, schemaPath }: ErrorObject): ErrorObject[] {
  let start = remaining.length;
  const isInner = (error: ErrorObject) =>
    error.propertyName !== undefined || (isWithin(error, instancePath) && error.schemaPath.startsWith(schemaPath));
  for (; start > 0; start -= 1) {
    const error = remaining[start - 1];
    if (error === undefined || !isInner(error)) break;
  }
  return remaining.splice(start);
}

/** The errors of each branch of a union, by the number of the branch or by the reference that it follows. */
type Branches = ReadonlyMap<string, readonly ErrorObject[]>;

/** Removes the errors of the branches from the end of the list. */
function takeBranches(remaining: ErrorObject[], union: ErrorObject): Branches {
  const references = new Map<unknown, string>();
  for (const [index, branch] of formsOf(union).entries()) {
    if (isJsonObject(branch) && typeof branch.$ref === 'string') references.set(branch.$ref, String(index));
  }
  let start = remaining.length;
  const matched: Array<readonly [branch: string, error: ErrorObject]> = [];
  for (; start > 0; start -= 1) {
    const error = remaining[start - 1];
    const branch = error === undefined ? undefined : branchOf(error, union, references);
    if (error === undefined || branch === undefined) break;
    matched.push([branch, error]);
  }
  remaining.length = start;
  const branches = new Map<string, ErrorObject[]>();
  for (const [branch, error] of matched.reverse()) {
    const errors = branches.get(branch);
    if (errors === undefined) branches.set(branch, [error]);
    else errors.push(error);
  }
  return branches;
}

function branchOf(
  error: ErrorObject,
  union: ErrorObject,
  references: ReadonlyMap<unknown, string>,
): string | undefined {
  const { schemaPath } = error;
  if (!isWithin(error, union.instancePath)) return undefined;
  if (schemaPath.startsWith(`${union.schemaPath}/`)) {
    return schemaPath.slice(union.schemaPath.length + 1).split('/', 1)[0];
  }
  if (!schemaPath.startsWith('#/$defs/')) return undefined;
  const definition = schemaPath.split('/', 3).join('/');
  // A reference to another reference is a branch of its own.
  return references.get(definition) ?? definition;
}

function isWithin(error: ErrorObject, instancePath: string): boolean {
  return error.instancePath === instancePath || error.instancePath.startsWith(`${instancePath}/`);
}

interface Union {
  readonly union: ErrorObject;
  readonly root: object;
}

function bestOf(branches: Branches, { union, root }: Union): readonly ErrorObject[] {
  // Several branches of a `oneOf` match, so no branch has errors.
  if (Array.isArray(union.params.passingSchemas)) return [union];
  const forms = formsOf(union).map((form) => resolve(form, root));
  const tag = isJsonObject(union.data) ? findTag(forms) : undefined;
  if (tag !== undefined) {
    const selected = selectForm(forms, { tag, data: Object(union.data) });
    const errors = branches.get(String(selected));
    if (errors !== undefined) return errors;
    if (selected === -1) return [tagError(union, tag, forms)];
  }
  const ofType = [...branches.values()].filter((errors) => !errors.some((error) => isAbout(error, union, 'type')));
  const alternatives = mergeValues(branches, union);
  if (alternatives !== undefined) return [alternatives];
  if (ofType.length > 0) return ofType.reduce((best, errors) => (errors.length < best.length ? errors : best));
  return [mergeTypes(branches, union)];
}

/**
 * Returns the place of the form with the value of the tag; -1 when there is none. Of several, the one that declares the
 * most members of the data was meant.
 */
function selectForm(forms: readonly unknown[], { tag, data }: { tag: string; data: object }): number {
  const names = Object.keys(data);
  let selected = -1;
  let most = -1;
  for (const [place, form] of forms.entries()) {
    if (!valuesOf(form, tag).includes(Reflect.get(data, tag))) continue;
    const declared = Object(Reflect.get(Object(form), 'properties'));
    const count = names.filter((name) => Object.hasOwn(declared, name)).length;
    if (count > most) [selected, most] = [place, count];
  }
  return selected;
}

/** The tag is missing, or its value matches no branch. */
function tagError(union: ErrorObject, tag: string, forms: readonly unknown[]): ErrorObject {
  const data: unknown = Reflect.get(Object(union.data), tag);
  if (data === undefined) return { ...union, keyword: 'required', params: { missingProperty: tag } };
  const values = new Set(forms.flatMap((form) => valuesOf(form, tag)));
  const instancePath = `${union.instancePath}/${tag.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  return { ...union, keyword: 'enum', instancePath, data, schema: [...values] };
}

/** Merges branches that all require constants: the error lists the allowed values. */
function mergeValues(branches: Branches, union: ErrorObject): ErrorObject | undefined {
  const values: unknown[] = [];
  for (const [error, ...more] of branches.values()) {
    const isConstant = error !== undefined && (isAbout(error, union, 'const') || isAbout(error, union, 'enum'));
    if (!isConstant || more.length > 0) return undefined;
    for (const value of [error.schema].flat()) values.push(value);
  }
  return values.length === 0 ? undefined : { ...union, keyword: 'enum', schema: values };
}

/** Merges branches that require different types: the error lists the allowed types. */
function mergeTypes(branches: Branches, union: ErrorObject): ErrorObject {
  const types = new Set<unknown>();
  for (const errors of branches.values()) {
    for (const error of errors)
      if (isAbout(error, union, 'type')) for (const type of [error.params.type].flat()) types.add(type);
  }
  return types.size === 0 ? union : { ...union, keyword: 'type', params: { type: [...types] } };
}

function isAbout(error: ErrorObject, union: ErrorObject, keyword: string): boolean {
  return error.keyword === keyword && error.instancePath === union.instancePath;
}

function formsOf(union: ErrorObject): readonly unknown[] {
  return Array.isArray(union.schema) ? union.schema : [];
}

/** Resolves a branch that is a reference to a definition. Other branches are returned unchanged. */
function resolve(form: unknown, root: object): unknown {
  const reference = isJsonObject(form) ? form.$ref : undefined;
  if (typeof reference !== 'string' || !reference.startsWith('#/$defs/')) return form;
  return Reflect.get(Object(Reflect.get(root, '$defs')), reference.slice('#/$defs/'.length)) ?? form;
}

/** The member that distinguishes the branches: each declares its allowed values. */
function findTag(forms: readonly unknown[]): string | undefined {
  const names = Object.keys(Object(Reflect.get(Object(forms[0]), 'properties')));
  return names.find((name) => forms.every((form) => valuesOf(form, name).length > 0));
}

function valuesOf(form: unknown, name: string): readonly unknown[] {
  const member = Object(Reflect.get(Object(Reflect.get(Object(form), 'properties')), name));
  if (Array.isArray(member.enum)) return member.enum;
  return 'const' in member ? [member.const] : [];
}
