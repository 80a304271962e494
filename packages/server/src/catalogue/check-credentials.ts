import type { BundleManifest, Injection } from '@quartermaster/plugin-kit';
import { checkSchema } from './check-schema.ts';
import type { FieldPath, Findings } from './findings.ts';

/** The properties of `credentials_schema`, by name. */
export function credentialProperties(manifest: BundleManifest): Map<string, Record<string, unknown>> {
  const properties: unknown = Reflect.get(manifest.credentials_schema ?? {}, 'properties');
  if (typeof properties !== 'object' || properties === null) return new Map();
  return new Map(
    Object.entries(properties).filter(([, property]) => typeof property === 'object' && property !== null),
  );
}

/** Names of the credentials that `x-secret` marks. */
export function secretNames(manifest: BundleManifest): Set<string> {
  const marked = [...credentialProperties(manifest)].filter(([, property]) => property['x-secret'] === true);
  return new Set(marked.map(([name]) => name));
}

/** Checks the schema of the credentials and that `inject` names them. */
export function checkCredentials(manifest: BundleManifest, findings: Findings): void {
  if (manifest.credentials_schema !== undefined) {
    checkSchema(manifest.credentials_schema, ['credentials_schema'], findings);
  }
  const properties = credentialProperties(manifest);
  for (const [name, property] of properties) {
    const path = ['credentials_schema', 'properties', name];
    if (property.type !== 'string') findings.add(path, 'A credential is text: expected "type: string".');
    if (property['x-secret'] !== undefined && typeof property['x-secret'] !== 'boolean') {
      findings.add([...path, 'x-secret'], 'Expected true or false.');
    }
  }
  checkInjections({ inject: manifest.inject ?? [], path: ['inject'], known: properties }, findings);
}

interface Injections {
  readonly inject: readonly Injection[];
  readonly path: FieldPath;
  /** By the names of the credentials. */
  readonly known: { has(name: string): boolean };
}

/** Checks that injections, of a bundle or of one request, name credentials and put them somewhere. */
export function checkInjections({ inject, path, known }: Injections, findings: Findings): void {
  for (const [index, injection] of inject.entries()) {
    const at = [...path, String(index)];
    for (const [member, name] of Object.entries(injection)) {
      if (!isCredentialMember(member) || known.has(name)) continue;
      findings.add([...at, member], `${JSON.stringify(name)} is not in credentials_schema.`);
    }
    checkTemplate(injection, [...at, 'template'], findings);
  }
}

function isCredentialMember(member: string): boolean {
  return member === 'credential' || member === 'username' || member === 'password';
}

function checkTemplate(injection: object, path: readonly string[], findings: Findings): void {
  const template: unknown = Reflect.get(injection, 'template');
  if (typeof template !== 'string' || template.includes('{credential}')) return;
  findings.add(path, 'Expected "{credential}" where the value goes.');
}
