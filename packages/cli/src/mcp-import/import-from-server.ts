import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Injection } from '@quartermaster/plugin-kit';
import { readMcpServer } from '@quartermaster/server/authoring';
import type { Environment } from '@quartermaster/server/environment';
import { InvalidArgumentError } from 'commander';
import { parse } from 'yaml';
import { isJson } from '../openapi/document.ts';
import { writeBundle } from '../openapi/write-bundle.ts';
import { importMcp, type McpAccess, type McpChoices } from './import-mcp.ts';
import { compareTools, readSnapshot, snapshotName, writeSnapshot } from './snapshot-file.ts';

export interface McpArguments extends Omit<McpChoices, 'describe'> {
  readonly out: string;
  readonly describe?: string;
  readonly bearer?: string;
  readonly header?: Record<string, string>;
  readonly credentials?: string;
  readonly accept?: boolean;
}

interface ImportContext {
  readonly credentials: Readonly<Record<string, string>>;
  readonly environment: Environment;
}

/** @returns the lines to print and the bundle's folder; null if the server has changed without `--accept` */
export async function importFromServer(
  url: string,
  options: McpArguments,
  context: ImportContext,
): Promise<{ readonly lines: readonly string[]; readonly folder: string | null }> {
  const access = accessOf(options);
  const snapshot = await readMcpServer({ url, inject: access.inject, ...context });
  const fromOptions = await choicesOf(options);
  const { id } = importMcp(snapshot, { id: fromOptions.id }, access).bundle;
  const before = await readSnapshot(join(options.out, id));
  const changes = before === null ? [] : compareTools(before.tools, snapshot.tools);
  if (changes.length > 0 && options.accept !== true) return { lines: changes, folder: null };
  const choices = { ...before?.choices, ...fromOptions };
  const imported = importMcp(snapshot, choices, access);
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

function accessOf({ bearer, header = {} }: McpArguments): McpAccess {
  const wanted: Array<readonly [string, Injection]> = [
    ...(bearer === undefined ? [] : [[bearer, { in: 'bearer', credential: bearer }] as const]),
    ...Object.entries(header).map(([name, credential]) => [credential, { in: 'header', name, credential }] as const),
  ];
  const bad = wanted.find(([name]) => !/^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(name));
  if (bad !== undefined)
    throw new InvalidArgumentError(
      `The name of a credential must be a letter and up to 63 letters, digits and "_"; received ${JSON.stringify(bad[0])}.`,
    );
  const description = 'Credential that the MCP server requires.';
  return {
    inject: wanted.map(([, injection]) => injection),
    properties: Object.fromEntries(
      wanted.map(([name]) => [name, { type: 'string', minLength: 1, description, 'x-secret': true }]),
    ),
  };
}
