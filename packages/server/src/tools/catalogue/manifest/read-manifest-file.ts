import { createErrorCollector, type ErrorCollector } from '../schema/error-collector.ts';
import { readPlainFile } from './plain-file.ts';
import { readYaml, type YamlError } from './read-yaml.ts';

export interface ManifestFile<Manifest> {
  /** Undefined when the file cannot be read or is invalid; the errors explain it. */
  readonly manifest: Manifest | undefined;
  readonly errors: ErrorCollector;
}

export interface ManifestPlace {
  readonly folder: string;
  readonly name: string;
  /** The name of the file in errors, relative to the folder of bundles. */
  readonly label: string;
}

type CheckManifest<Manifest> = (value: unknown, errors: ErrorCollector) => Manifest | undefined;

const maxManifestBytes = 256 * 1024;

/** Reads and checks one YAML file of a bundle. */
export async function readManifestFile<Manifest>(
  place: ManifestPlace,
  check: CheckManifest<Manifest>,
): Promise<ManifestFile<Manifest>> {
  const { folder, name, label } = place;
  const file = await readPlainFile({ folder, name, maxBytes: maxManifestBytes });
  if ('refusal' in file) return unreadable(place, [{ line: null, path: [], message: file.refusal }]);
  const text = decodeUtf8(file.content);
  if (text === undefined) {
    return unreadable(place, [{ line: null, path: [], message: `${name} is not UTF-8 text.` }]);
  }
  const yaml = readYaml(text);
  if ('errors' in yaml) return unreadable(place, yaml.errors);
  const errors = createErrorCollector(label, yaml.lineOf);
  return { manifest: check(yaml.value, errors), errors };
}

function unreadable({ label }: ManifestPlace, yamlErrors: readonly YamlError[]) {
  // The parser provides the line of each error.
  let line: number | null = null;
  const errors = createErrorCollector(label, () => line);
  for (const error of yamlErrors) {
    line = error.line;
    errors.add(error.path, error.message);
  }
  return { manifest: undefined, errors };
}

function decodeUtf8(content: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return undefined;
  }
}
