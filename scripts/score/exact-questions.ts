import { execFileSync } from 'node:child_process';
import type { Quartermaster } from '@quartermaster/client';
import { connectClient, settledRecord } from '../../test/support/client.ts';
import { corpusFile, readCorpusManifest } from '../../test/support/corpus.ts';
import { type GeneratedPair, generatePairs } from '../../test/support/generated-pairs.ts';
import { withService } from './retrieval-service.ts';

/** A question–answer sheet to upload, and questions of its pairs. */
export interface QuestionSheet {
  readonly name: string;
  readonly bytes: Buffer;
  readonly questions: readonly string[];
}

/** Every question is asked, up to this many of a sheet, evenly distributed. */
const mostAsked = 200;

/** Returns a sheet of about 1,000 similar pairs for each language. */
export function generatedSheets(): QuestionSheet[] {
  return [...generatePairs()].map(([language, pairs]) => ({
    name: `${language}.csv`,
    bytes: Buffer.from(toCsv(pairs)),
    questions: pairs.map(({ question }) => question),
  }));
}

function toCsv(pairs: readonly GeneratedPair[]): string {
  const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
  return ['question,answer', ...pairs.map(({ question, answer }) => `${cell(question)},${cell(answer)}`), ''].join(
    '\n',
  );
}

/** Returns the sheets of the corpus, with the questions of their ground truth. */
export function corpusSheets(): QuestionSheet[] {
  const sheets = readCorpusManifest().filter(({ kind, expect }) => kind === 'qa' && expect === 'ok');
  if (sheets.length === 0) throw new Error('the corpus has no question-answer sheets');
  return sheets.map(({ path, ground_truth }) => {
    const truth = ground_truth?.[0] ?? '';
    const bytes = corpusFile(truth);
    const lines = truth.endsWith('.xz') ? execFileSync('xz', ['-dc'], { input: bytes, maxBuffer: 2 ** 28 }) : bytes;
    const pairs = lines
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as GeneratedPair); // the format that the manifest describes
    return {
      name: path.split('/').at(-1) ?? path,
      bytes: corpusFile(path),
      questions: pairs.map((each) => each.question),
    };
  });
}

export interface ExactScore {
  readonly sheet: string;
  readonly pairs: number;
  readonly asked: number;
  /** The questions whose first result is a pair with this question. */
  readonly first: number;
}

/** Imports each sheet into a collection of its own and asks the questions of its pairs. */
export async function measureExactQuestions(
  sheets: readonly QuestionSheet[],
  settings: Readonly<Record<string, string>> = {},
): Promise<ExactScore[]> {
  return withService(settings, async ({ url, apiKey }) => {
    const client = connectClient({ filesUrl: url, pluginsUrl: `${url}/plugins` }, apiKey);
    const scores: ExactScore[] = [];
    for (const sheet of sheets) scores.push(await measureSheet(client, sheet));
    return scores;
  });
}

async function measureSheet(client: Quartermaster, { name, bytes, questions }: QuestionSheet): Promise<ExactScore> {
  const { collection_id: collection } = await client.collections.create({ name, type: 'qa' });
  const { file_id } = await client.files.upload(new Blob([new Uint8Array(bytes)]), { name, purpose: 'qa_record_file' });
  const created = await client.records.create(collection, { type: 'qa_sheet', file_id });
  const record = await settledRecord(client, collection, created.record_id);
  if (record.status !== 'ready') throw new Error(`${name} ended as ${record.status}: ${record.error?.message}`);
  const every = Math.ceil(questions.length / mostAsked);
  const asked = questions.filter((_, at) => at % every === 0);
  let first = 0;
  for (const question of asked) {
    const [found] = await client.search(collection, { query_text: question, top_k: 1 });
    if (normalise(found?.question ?? '') === normalise(question)) first += 1;
  }
  return { sheet: name, pairs: questions.length, asked: asked.length, first };
}

/** Blanks make no difference, because an import removes those around a question. */
const normalise = (text: string) => text.normalize('NFC').replace(/\s+/g, ' ').trim();
