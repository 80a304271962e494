import { stringify } from 'yaml';
import { checkId } from './check-id.ts';
import type { ImportedBundle } from './openapi/import-openapi.ts';

export { checkId };

/** An import replaces only a folder that has this file. */
export const reportName = 'import-report.json';

/**
 * Returns the files of an imported bundle by name.
 * @throws Error for an id that no bundle or plugin can have
 */
export function bundleFiles({ bundle, plugins, report }: ImportedBundle): Map<string, string> {
  checkId('bundle', bundle.id);
  for (const id of plugins.keys()) checkId('plugin', id);
  return new Map([
    ['bundle.yaml', toYaml(bundle)],
    ...[...plugins].map(([id, plugin]): [string, string] => [`${id}.yaml`, toYaml(plugin)]),
    [reportName, `${JSON.stringify(report, null, 2)}\n`],
  ]);
}

/** The catalogue reads no larger manifest. */
const mostBytes = 256 * 1024;

/** Large manifests are written without spaces, which is YAML too. */
function toYaml(value: unknown): string {
  const text = stringify(value, { lineWidth: 120, aliasDuplicateObjects: false });
  return Buffer.byteLength(text) > mostBytes ? JSON.stringify(value) : text;
}
