import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { corpusFile } from '../../test/support/corpus.ts';

const fixtures = resolve(import.meta.dirname, '../../test/fixtures/ordinary-questions');
/** Files of Debian packages are kept here, so that they are downloaded once. */
const cache = resolve(import.meta.dirname, '../../node_modules/.cache/ordinary-questions');

export interface OrdinaryDocument {
  readonly source: 'corpus' | 'debian';
  readonly path: string;
  readonly sha256: string;
  readonly decode?: 'gzip';
  readonly package?: string;
}

export interface OrdinaryQuestion {
  readonly id: string;
  readonly language: string;
  readonly kind: string;
  readonly half: 'tuning' | 'reporting';
  readonly question: string;
  readonly document: { readonly path: string } | null;
  /** Another document that answers the question. */
  readonly also?: string;
  readonly answer: string | null;
}

/** The README beside these files describes their format. */
export function readOrdinaryQuestions(): OrdinaryQuestion[] {
  const lines = readFileSync(join(fixtures, 'questions.jsonl'), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as OrdinaryQuestion);
}

export interface LoadedDocument {
  readonly path: string;
  /** The name of the file to upload. */
  readonly name: string;
  readonly bytes: Buffer;
}

/**
 * Returns the documents of the ordinary questions: files of the corpus, and of Debian packages that `apt-get` downloads.
 * @throws when a file is not the one that the questions were written for
 */
export function loadOrdinaryDocuments(): LoadedDocument[] {
  const listed = JSON.parse(readFileSync(join(fixtures, 'documents.json'), 'utf8')) as OrdinaryDocument[];
  const missing = listed.filter(({ source, sha256 }) => source === 'debian' && !existsSync(join(cache, sha256)));
  for (const [name, files] of Object.entries(Object.groupBy(missing, (each) => each.package ?? '')))
    downloadFiles(name, files ?? []);
  return listed.map((each) => {
    const bytes = each.source === 'corpus' ? corpusFile(each.path) : readFileSync(join(cache, each.sha256));
    if (createHash('sha256').update(bytes).digest('hex') !== each.sha256)
      throw new Error(`${each.path} is another version than the one that the questions were written for`);
    const name = basename(each.path);
    if (each.decode !== 'gzip') return { path: each.path, name, bytes };
    return { path: each.path, name: name.replace(/\.gz$/, ''), bytes: gunzipSync(bytes) };
  });
}

/** Downloads a package without installing it, and keeps the files under the names of their digests. */
function downloadFiles(name: string, files: readonly OrdinaryDocument[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-debian-'));
  try {
    execFileSync('apt-get', ['download', '-q', '-o', 'APT::Sandbox::User=root', name], {
      cwd: folder,
      stdio: 'ignore',
    });
    const archive = readdirSync(folder).find((file) => file.endsWith('.deb')) ?? '';
    mkdirSync(cache, { recursive: true });
    execFileSync('dpkg', ['-x', archive, 'root'], { cwd: folder });
    for (const { path, sha256 } of files) execFileSync('cp', [join(folder, 'root', path), join(cache, sha256)]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
