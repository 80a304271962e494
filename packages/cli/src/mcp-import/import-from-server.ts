import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { accessOf, importMcp, isJson, type McpChoices } from '@quartermaster/importers/mcp';
import { digestOf, readMcpServer, schemaChecks } from '@quartermaster/server/authoring';
import type { Environment } from '@quartermaster/server/environment';
import { InvalidArgumentError } from 'commander';
import { parse } from 'yaml';
import { writeBundle } from '../bundles/write-bundle.ts';
import { compareTools, readSnapshot, snapshotName, writeSnapshot } from './snapshot-file.ts';

export interface McpArguments extends Omit<McpChoices, 'describe'> {
  readonly out: string;
  readonly describe?: string;
  readonly bearer?: string;
  readonly header?: Record<string, string>;
  readonly credentials?: string;
  readonly accept?: boolean;
}

const checks = { ...schemaChecks, digestOf };

interface ImportContext {
  readonly credentials: Readonly<Record<string, string>>;
  readonly environment: Environment;
}

/** @returns the lines to print and the bundle's folder; null if the server has changed without `--accept` */
export async function importFromServer(
  url: string,
  options: McpArguments,
  { credentials, environment }: ImportContext,
): Promise<{ readonly lines: readonly string[]; readonly folder: string | null }> {
  checkCredentialNames(options);
  const access = accessOf(options.bearer, options.header);
  const snapshot = await readMcpServer({ url, inject: access.inject, credentials }, environment);
  const fromOptions = await choicesOf(options);
  const { id } = importMcp(snapshot, { choices: { id: fromOptions.id }, access, checks }).bundle;
  const before = await readSnapshot(join(options.out, id));
  const changes = before === null ? [] : compareTools(before.tools, snapshot.tools);
  if (changes.length > 0 && options.accept !== true) return { lines: changes, folder: null };
  const choices = { ...before?.choices, ...fromOptions };
  const imported = importMcp(snapshot, { choices, access, checks });
  const folder = await writeBundle(options.out, imported, { [snapshotName]: writeSnapshot(snapshot, choices) });
  const { report } = imported;
  const lines = [
    ...changes,
    ...report.skipped.map(({ operation, reason }) => `not imported: ${operation}: ${reason}`),
    ...report.notes.map((note) => `note: ${note}`),
    ...report.imported.flatMap(({ plugin_id, notes }) => notes.map((note) => `${plugin_id}: ${note}`)),
    `${report.imported.length} of ${report.operations} tools imported into ${folder}`,
  ];
  return { lines, folder };
}

async function choicesOf({ id, operations, rename, describe }: McpArguments): Promise<McpChoices> {
  const texts: unknown = describe === undefined ? undefined : parse(await readFile(describe, 'utf8'));
  if (texts !== undefined && !isJson(texts)) throw new Error(`${describe} must hold an object of tools by name.`);
  return {
    ...(id === undefined ? {} : { id }),
    ...(operations === undefined ? {} : { operations }),
    ...(rename === undefined ? {} : { rename }),
    // Values that are neither text nor a map are left out where they are used.
    ...(texts === undefined ? {} : { describe: texts as NonNullable<McpChoices['describe']> }),
  };
}

function checkCredentialNames({ bearer, header = {} }: McpArguments): void {
  const names = [...(bearer === undefined ? [] : [bearer]), ...Object.values(header)];
  const bad = names.find((name) => !/^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(name));
  if (bad === undefined) return;
  throw new InvalidArgumentError(
    `The name of a credential must be a letter and up to 63 letters, digits and "_"; received ${JSON.stringify(bad)}.`,
  );
}
