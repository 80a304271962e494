import { parentPort } from 'node:worker_threads';
import { bundleFiles } from '@quartermaster/importers/bundle-files';
import { importMcp, type McpAccess, type McpChoices, type McpSnapshot } from '@quartermaster/importers/mcp';
import { type ImportedBundle, type ImportOptions, importOpenApi } from '@quartermaster/importers/openapi';
import { applyRecipe, type Recipe } from '@quartermaster/importers/recipes';
import { schemaChecks } from '../catalogue/schema/schema-checks.ts';
import { digestOf } from '../execution/remote-tools/tool-definition.ts';
import { packFiles } from './pack-files.ts';

export type ImportRequest =
  | {
      readonly kind: 'openapi';
      readonly text: string;
      readonly recipe: Recipe | undefined;
      readonly options: ImportOptions;
    }
  | { readonly kind: 'mcp'; readonly snapshot: McpSnapshot; readonly choices: McpChoices; readonly access: McpAccess };

export type ImportAnswer =
  | {
      readonly bytes: Uint8Array;
      /** The host of the API. */
      readonly name: string;
      readonly licence: string | null;
      readonly warnings: string[];
    }
  | { readonly reason: string };

const port = parentPort;
port?.on('message', (request: ImportRequest) => port.postMessage(answerOf(request)));

function answerOf(request: ImportRequest): ImportAnswer {
  try {
    const imported = importBundle(request);
    const files = new Map([...bundleFiles(imported)].map(([name, text]) => [name, Buffer.from(text)]));
    const { bundle, host = String(bundle.provider), licence = null, report } = imported;
    return { bytes: packFiles(files), name: host, licence, warnings: warningsOf(report) };
  } catch (error) {
    return { reason: error instanceof Error ? error.message.slice(0, 500) : String(error) };
  }
}

function importBundle(request: ImportRequest): ImportedBundle {
  if (request.kind === 'openapi') {
    const { text, recipe, options } = request;
    return recipe === undefined
      ? importOpenApi(text, schemaChecks, options)
      : applyRecipe(text, recipe, schemaChecks, options);
  }
  const { snapshot, choices, access } = request;
  return importMcp(snapshot, { choices, access, checks: { ...schemaChecks, digestOf } });
}

/** `import-report.json` holds all of them. */
const mostNotes = 20;

function warningsOf({ operations, imported, skipped, notes }: ImportedBundle['report']): string[] {
  const left = skipped.filter(({ reason }) => reason !== 'not chosen');
  const all = [
    ...notes,
    ...grouped(left.map(({ operation, reason }) => [`Not imported: ${operation}`, reason])),
    ...grouped(imported.flatMap(({ plugin_id, notes: own }) => own.map((note) => [plugin_id, note] as const))),
  ].map((text) => text.slice(0, 300));
  const count = imported.length === operations ? [] : [`${imported.length} of ${operations} actions are imported.`];
  const more = all.length - mostNotes;
  return [...count, ...all.slice(0, mostNotes), ...(more > 0 ? [`${more} more notes are in import-report.json.`] : [])];
}

/** Notes that differ only in quoted names are one note with a count. */
function grouped(notes: ReadonlyArray<readonly [subject: string, note: string]>): string[] {
  const groups = Map.groupBy(notes, ([, note]) => note.replace(/"[^"]*"/g, ''));
  return [...groups.values()].map(([[subject, note] = ['', ''], ...others]) =>
    others.length === 0 ? `${subject}: ${note}` : `${subject} and ${others.length} more: ${note}`,
  );
}
