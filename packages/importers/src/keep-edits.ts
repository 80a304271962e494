import { createHash } from 'node:crypto';
import { parse } from 'yaml';
import { isJson, type Json, memberOf } from './openapi/document.ts';

/** The digest of each member of a manifest, by file. */
export type Digests = Readonly<Record<string, Readonly<Record<string, string>>>>;

export function digestsOf(files: ReadonlyMap<string, Json>): Digests {
  return Object.fromEntries(
    Array.from(files, ([name, manifest]) => [
      name,
      Object.fromEntries(Object.entries(manifest).map(([member, value]) => [member, digestOf(value)])),
    ]),
  );
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
}

export interface Merged {
  readonly manifests: ReadonlyMap<string, Json>;
  /** What differs from the earlier import, and what was kept. */
  readonly changes: readonly string[];
}

/**
 * Applies a person's edits of an earlier import to a new one: a member that differs from what the import wrote is kept, a removed file stays
 * removed. Without digests in the earlier report nothing is known about edits.
 */
export function keepEdits(
  before: ReadonlyMap<string, string>,
  digests: unknown,
  after: ReadonlyMap<string, Json>,
): Merged {
  if (!isJson(digests)) return { manifests: after, changes: [] };
  const manifests = new Map<string, Json>();
  const changes: string[] = [];
  for (const [name, manifest] of after) {
    const written = memberOf(digests, name);
    const text = before.get(name);
    if (!isJson(written)) {
      changes.push(`+ ${name}`);
      manifests.set(name, manifest);
    } else if (text === undefined) changes.push(`  ${name}: stays removed`);
    else {
      const edited: unknown = parse(text);
      manifests.set(name, mergeMembers({ name, written, changes }, isJson(edited) ? edited : {}, manifest));
    }
  }
  changes.push(...Object.keys(digests).flatMap((name) => (after.has(name) ? [] : [`- ${name}`])));
  return { manifests, changes };
}

interface Known {
  readonly name: string;
  /** The digests of the earlier import. */
  readonly written: Json;
  readonly changes: string[];
}

function mergeMembers({ name, written, changes }: Known, edited: Json, manifest: Json): Json {
  const result: Record<string, unknown> = {};
  for (const member of new Set([...Object.keys(manifest), ...Object.keys(edited), ...Object.keys(written)])) {
    const [mine, theirs] = [edited, manifest].map((one) => memberOf(one, member));
    const digest = memberOf(written, member);
    const isEdited = (mine === undefined ? undefined : digestOf(mine)) !== digest;
    const isChanged = (theirs === undefined ? undefined : digestOf(theirs)) !== digest;
    const value = isEdited ? mine : theirs;
    if (value !== undefined) result[member] = value;
    const also = isChanged ? ', which the document changes too' : '';
    if (isEdited) changes.push(`  ${name}: your edit of "${member}" is kept${also}`);
    else if (isChanged) changes.push(`~ ${name}: "${member}" changes`);
  }
  return result;
}
