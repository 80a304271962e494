import { createFindings, type Findings } from './findings.ts';
import { readPlainFile } from './plain-file.ts';
import type { ReadYaml, YamlMistake } from './read-yaml.ts';

export interface ManifestFile {
  /** Undefined when the file cannot be read as YAML; the findings say why. */
  readonly value: unknown;
  readonly findings: Findings;
}

const maxManifestBytes = 256 * 1024;

export interface ManifestPlace {
  readonly folder: string;
  readonly name: string;
  /** Names it in findings, relative to the folder of bundles. */
  readonly label: string;
}

/** Reads one YAML file of a bundle. */
export async function readManifestFile(place: ManifestPlace, readYaml: ReadYaml): Promise<ManifestFile> {
  const { folder, name, label } = place;
  const file = await readPlainFile(folder, name, maxManifestBytes);
  if ('refusal' in file) return unreadable(label, [{ line: null, path: [], message: file.refusal }]);
  const text = decodeUtf8(file.content);
  if (text === undefined) return unreadable(label, [{ line: null, path: [], message: `${name} is not UTF-8 text.` }]);
  const yaml = readYaml(text);
  if ('mistakes' in yaml) return unreadable(label, yaml.mistakes);
  return { value: yaml.value, findings: createFindings(label, yaml.lineOf) };
}

function unreadable(label: string, mistakes: readonly YamlMistake[]): ManifestFile {
  // Each mistake has a line of its own, found by the parser.
  let line: number | null = null;
  const findings = createFindings(label, () => line);
  for (const mistake of mistakes) {
    line = mistake.line;
    findings.add(mistake.path, mistake.message);
  }
  return { value: undefined, findings };
}

function decodeUtf8(content: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return undefined;
  }
}
