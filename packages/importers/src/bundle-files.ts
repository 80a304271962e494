import { stringify } from 'yaml';
import { checkId } from './check-id.ts';
import { digestsOf, keepEdits } from './keep-edits.ts';
import type { Json } from './openapi/document.ts';
import type { ImportedBundle } from './openapi/import-openapi.ts';

export { checkId };

/** An import replaces only a folder that has this file. */
export const reportName = 'import-report.json';

/**
 * Returns the files of an imported bundle by name.
 * @throws Error for an id that no bundle or plugin can have
 */
export function bundleFiles(imported: ImportedBundle): Map<string, string> {
  return filesOf(manifestsOf(imported), imported.report);
}

/** The files of a later import, with a person's edits of the earlier one, and what changes. */
export function mergedFiles(
  before: ReadonlyMap<string, string>,
  imported: ImportedBundle,
): { readonly files: Map<string, string>; readonly changes: readonly string[] } {
  const after = manifestsOf(imported);
  const { digests } = JSON.parse(before.get(reportName) ?? '{}');
  const { manifests, changes } = keepEdits(before, digests, after);
  return { files: filesOf(manifests, imported.report, after), changes };
}

function manifestsOf({ bundle, plugins }: ImportedBundle): Map<string, Json> {
  checkId('bundle', bundle.id);
  for (const id of plugins.keys()) checkId('plugin', id);
  return new Map([['bundle.yaml', bundle], ...[...plugins].map(([id, one]): [string, Json] => [`${id}.yaml`, one])]);
}

/** @param written what the import would write without edits */
function filesOf(
  manifests: ReadonlyMap<string, Json>,
  report: ImportedBundle['report'],
  written = manifests,
): Map<string, string> {
  const full = { ...report, digests: digestsOf(written) };
  return new Map([
    ...[...manifests].map(([name, manifest]): [string, string] => [name, toYaml(manifest)]),
    [reportName, `${JSON.stringify(full, null, 2)}\n`],
  ]);
}

/** The catalogue reads no larger manifest. */
const mostBytes = 256 * 1024;

/** Large manifests are written without spaces, which is YAML too. */
function toYaml(value: unknown): string {
  const text = stringify(value, { lineWidth: 120, aliasDuplicateObjects: false });
  return Buffer.byteLength(text) > mostBytes ? JSON.stringify(value) : text;
}
