import type { BundleFiles } from './bundle-files.ts';
import { createFindings, type Findings } from './findings.ts';
import { type KnownManifests, keyOf } from './known-manifests.ts';
import { readPlainFile } from './plain-file.ts';
import { readYaml, type YamlMistake } from './read-yaml.ts';

export interface ManifestFile<Manifest> {
  /** Undefined when the file cannot be read or its shape is wrong; the findings say why. */
  readonly manifest: Manifest | undefined;
  readonly findings: Findings;
  /** The same key: the same manifest with the same findings. */
  readonly key: string;
}

export interface ManifestPlace {
  readonly folder: string;
  readonly name: string;
  /** Names it in findings, relative to the folder of bundles. */
  readonly label: string;
}

export interface ManifestChecks<Manifest> {
  /** What `check` looks at beside the file. */
  readonly dependsOn: readonly string[];
  readonly check: (value: unknown, findings: Findings) => Manifest | undefined;
}

/** How the files of a bundle are read. */
export interface BundleReader {
  readonly files: BundleFiles;
  readonly known: KnownManifests;
}

const maxManifestBytes = 256 * 1024;

/** Reads and checks one YAML file of a bundle. What is known to be right is neither parsed nor checked again. */
export async function readManifestFile<Manifest>(
  place: ManifestPlace,
  { dependsOn, check }: ManifestChecks<Manifest>,
  { files, known }: BundleReader,
): Promise<ManifestFile<Manifest>> {
  const { folder, name, label } = place;
  const file = await readPlainFile({ folder, name, maxBytes: maxManifestBytes }, files);
  if ('refusal' in file) return unreadable(place, [{ line: null, path: [], message: file.refusal }], '');
  const { content } = file;
  const key = keyOf(dependsOn, content);
  const right = known.find(key);
  if (right !== undefined) {
    // Lines are wanted for what else is wrong with the bundle, which is rare: then the text is read after all.
    const findings = createFindings(label, (path) => lineIn(content, path));
    return { manifest: right as Manifest, findings, key }; // what `check` gave for the same key
  }
  const text = decodeUtf8(content);
  if (text === undefined) {
    return unreadable(place, [{ line: null, path: [], message: `${name} is not UTF-8 text.` }], key);
  }
  const yaml = readYaml(text);
  if ('mistakes' in yaml) return unreadable(place, yaml.mistakes, key);
  const findings = createFindings(label, yaml.lineOf);
  const manifest = check(yaml.value, findings);
  if (manifest !== undefined && findings.list.length === 0) known.remember(key, manifest);
  return { manifest, findings, key };
}

function unreadable({ label }: ManifestPlace, mistakes: readonly YamlMistake[], key: string) {
  // Each mistake has a line of its own, found by the parser.
  let line: number | null = null;
  const findings = createFindings(label, () => line);
  for (const mistake of mistakes) {
    line = mistake.line;
    findings.add(mistake.path, mistake.message);
  }
  return { manifest: undefined, findings, key };
}

function lineIn(content: Buffer, path: readonly string[]): number {
  const yaml = readYaml(content.toString());
  return 'mistakes' in yaml ? 1 : yaml.lineOf(path);
}

function decodeUtf8(content: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return undefined;
  }
}
