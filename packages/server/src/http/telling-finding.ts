import type { FastifySchemaValidationError } from 'fastify';
import { isJsonObject } from '../kernel/json/json-object.ts';

/** Fastify's error type leaves out what AJV's `verbose` adds: the value that was found, and the schema that it broke. */
export type Finding = FastifySchemaValidationError & {
  readonly data?: unknown;
  readonly schema?: unknown;
  /** Whether the value, or one around it, is a secret: no error repeats it. */
  readonly isSecret?: boolean;
};

/** Checks a value against a schema. @returns what AJV found, the decisive one last; nothing when the value is right */
export type Check = (schema: object, value: unknown) => readonly Finding[];

/**
 * What tells the caller most. AJV tries every form that a value may have and complains about each; the caller meant one
 * of them, which the value itself names.
 */
export function tellingFinding(finding: Finding, check: Check): Finding {
  if (finding.keyword !== 'anyOf') return finding;
  const { data, instancePath } = finding;
  // Of `anyOf`: AJV checked that it is one.
  const forms = finding.schema as readonly Form[];
  const tag = tagOf(forms);
  if (tag !== undefined && isJsonObject(data)) {
    const value = data[tag];
    const meant = forms.find((form) => allowedBy(form, tag).includes(value));
    if (meant !== undefined) return findIn(meant, finding, check);
    if (value === undefined) return { ...finding, keyword: 'required', params: { missingProperty: tag } };
    const allowedValues = forms.flatMap((form) => allowedBy(form, tag));
    const path = `${instancePath}/${tag}`;
    return { ...finding, keyword: 'enum', instancePath: path, params: { allowedValues }, data: value };
  }
  const meant = forms.find(({ type }) => type !== undefined && isOfType(data, type));
  if (meant !== undefined) return findIn(meant, finding, check);
  const types = [...new Set(forms.map(({ type }) => type))];
  return types.includes(undefined) ? finding : { ...finding, keyword: 'type', params: { type: types.join(' or ') } };
}

/** One of the schemas of a union. */
interface Form {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, { readonly enum?: readonly unknown[]; readonly const?: unknown }>>;
}

function findIn(form: Form, finding: Finding, check: Check): Finding {
  const decisive = check(form, finding.data).at(-1);
  if (decisive === undefined) return finding;
  const instancePath = finding.instancePath + decisive.instancePath;
  const isSecret = finding.isSecret === true || decisive.isSecret === true;
  return tellingFinding({ ...decisive, instancePath, isSecret }, check);
}

/** The member by which the forms are told apart: each names the values that it has there. */
function tagOf(forms: readonly Form[]): string | undefined {
  return Object.keys(forms[0]?.properties ?? {}).find((name) =>
    forms.every((form) => allowedBy(form, name).length > 0),
  );
}

function allowedBy({ properties }: Form, name: string): readonly unknown[] {
  const member = properties?.[name];
  return member?.enum ?? (member?.const === undefined ? [] : [member.const]);
}

function isOfType(value: unknown, type: string): boolean {
  if (value === null) return type === 'null';
  if (Array.isArray(value)) return type === 'array';
  return type === 'integer' ? Number.isInteger(value) : type === typeof value;
}
