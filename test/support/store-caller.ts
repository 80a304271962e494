import { createHash, randomBytes } from 'node:crypto';
import { ApiError, ConnectionError, type Quartermaster } from '@quartermaster/client';

/** The state of an object as far as a caller knows. `unknown`: the last request about it got no response. */
type Fate = 'there' | 'gone' | 'unknown';
type Kind = 'text' | 'qa';

export interface KnownFile {
  readonly id: string;
  readonly kind: Kind;
  readonly sha256: string;
  /** Each of these words occurs once in the file and in no other file. */
  readonly words: readonly string[];
  fate: Fate;
}

export interface KnownRecord {
  readonly id: string;
  /** The possible contents of its chunks. Empty: the content is unknown. */
  sources: ReadonlyArray<readonly string[]>;
  readonly isText: boolean;
  fate: Fate;
}

export interface KnownCollection {
  readonly id: string;
  readonly kind: Kind;
  readonly records: KnownRecord[];
  /** The number of requests for records without a response. As many additional records may exist. */
  unanswered: number;
  fate: Fate;
}

/** The knowledge of a caller. */
export interface KnownStores {
  readonly files: readonly KnownFile[];
  readonly collections: readonly KnownCollection[];
  /** The number of uploads without a response. As many additional files may exist. */
  readonly unansweredUploads: number;
}

/** A caller that uses the stores at random and remembers every response. */
export interface StoreCaller extends KnownStores {
  /**
   * Makes one call, during which the service may be killed.
   * @throws when the service fails instead of answering or refusing
   */
  act(client: Quartermaster): Promise<void>;
}

/** A response, or its absence. */
type Answer<T> = { readonly given: T } | 'refused' | 'none';

export function createStoreCaller(): StoreCaller {
  const files: KnownFile[] = [];
  const collections: KnownCollection[] = [];
  let unansweredUploads = 0;

  async function upload({ files: calls }: Quartermaster): Promise<void> {
    const kind: Kind = chance(0.5) ? 'text' : 'qa';
    const words = Array.from({ length: chance(0.1) ? 1500 : 1 + below(30) }, newWord);
    const text = kind === 'qa' ? sheetOf(words) : documentOf(words);
    const purpose = kind === 'qa' ? ('qa_record_file' as const) : ('record_file' as const);
    const name = kind === 'qa' ? 'sheet.csv' : 'document.md';
    const answer = await answerOf(calls.upload(new Blob([text]), { purpose, name }));
    const sha256 = createHash('sha256').update(text).digest('hex');
    if (hasAnswer(answer)) files.push({ id: answer.given.file_id, kind, sha256, words, fate: 'there' });
    else unansweredUploads += 1;
  }

  async function collect({ collections: calls }: Quartermaster): Promise<void> {
    const kind: Kind = chance(0.5) ? 'text' : 'qa';
    const answer = await answerOf(calls.create({ name: 'a collection', type: kind }));
    if (!hasAnswer(answer)) return;
    collections.push({ id: answer.given.collection_id, kind, records: [], unanswered: 0, fate: 'there' });
  }

  async function readFile({ records }: Quartermaster, collection: KnownCollection): Promise<void> {
    const file = pick(files.filter(({ kind, fate }) => kind === collection.kind && fate === 'there'));
    if (file === undefined) return;
    const type = file.kind === 'qa' ? ('qa_sheet' as const) : ('file' as const);
    await note(records.create(collection.id, { type, file_id: file.id }), collection, file.words);
  }

  async function write({ records }: Quartermaster, collection: KnownCollection): Promise<void> {
    if (collection.kind === 'qa') return;
    const word = newWord();
    await note(records.create(collection.id, { type: 'text', content: `Something about ${word}.` }), collection, [
      word,
    ]);
  }

  async function note(
    call: Promise<{ record_id: string; type: string }>,
    collection: KnownCollection,
    words: readonly string[],
  ): Promise<void> {
    const answer = await answerOf(call);
    if (answer === 'none') collection.unanswered += 1;
    if (!hasAnswer(answer)) return;
    const { record_id: id, type } = answer.given;
    collection.records.push({ id, sources: [words], isText: type === 'text', fate: 'there' });
  }

  async function rewrite({ records }: Quartermaster, collection: KnownCollection): Promise<void> {
    const record = pick(collection.records.filter(({ isText, fate }) => isText && fate === 'there'));
    if (record === undefined) return;
    const word = newWord();
    const answer = await answerOf(records.update(collection.id, record.id, { content: `Now about ${word}.` }));
    if (hasAnswer(answer)) record.sources = [[word]];
    else if (answer === 'none') record.sources = [...record.sources, [word]];
  }

  async function retry({ records }: Quartermaster, collection: KnownCollection): Promise<void> {
    const record = pick(collection.records.filter(({ fate }) => fate === 'there'));
    if (record !== undefined) await answerOf(records.retry(collection.id, record.id));
  }

  async function forgetRecord({ records }: Quartermaster, collection: KnownCollection): Promise<void> {
    const record = pick(collection.records.filter(({ fate }) => fate === 'there'));
    if (record !== undefined) record.fate = fateAfter(await answerOf(records.delete(collection.id, record.id)));
  }

  async function forgetCollection({ collections: calls }: Quartermaster, collection: KnownCollection): Promise<void> {
    collection.fate = fateAfter(await answerOf(calls.delete(collection.id)));
  }

  async function forgetFile({ files: calls }: Quartermaster): Promise<void> {
    const file = pick(files.filter(({ fate }) => fate === 'there'));
    // The response is 409 while a record is being created from the file.
    if (file !== undefined) file.fate = fateAfter(await answerOf(calls.delete(file.id)));
  }

  async function ask({ search }: Quartermaster, collection: KnownCollection): Promise<void> {
    await answerOf(search(collection.id, { query_text: 'What is it about?' }));
  }

  /** The actions with their numbers among a hundred calls. The rest are questions. */
  const ways = [
    ...times(20, upload),
    ...times(25, readFile),
    ...times(12, write),
    ...times(8, rewrite),
    ...times(5, retry),
    ...times(8, forgetRecord),
    ...times(2, forgetCollection),
    ...times(6, forgetFile),
    ...times(4, collect),
  ];

  return {
    files,
    collections,
    get unansweredUploads() {
      return unansweredUploads;
    },
    act: async (client) => {
      const collection = pick(collections.filter(({ fate }) => fate === 'there'));
      if (collection === undefined) return await collect(client);
      await (ways[below(100)] ?? ask)(client, collection);
    },
  };
}

function fateAfter(answer: Answer<unknown>): Fate {
  if (answer === 'none') return 'unknown';
  return answer === 'refused' ? 'there' : 'gone';
}

function hasAnswer<T>(answer: Answer<T>): answer is { given: T } {
  return typeof answer === 'object';
}

async function answerOf<T>(call: Promise<T>): Promise<Answer<T>> {
  try {
    return { given: await call };
  } catch (error) {
    if (error instanceof ConnectionError) return 'none';
    if (error instanceof ApiError && error.status < 500) return 'refused';
    throw error;
  }
}

function documentOf(words: readonly string[]): string {
  return words.map((word) => `# About ${word}\n\nHere ${word} is explained, at some length and in order.\n\n`).join('');
}

function sheetOf(words: readonly string[]): string {
  return `question,answer\n${words.map((word) => `What is ${word}?,It is ${word}.\n`).join('')}`;
}

type Way = (client: Quartermaster, collection: KnownCollection) => Promise<void>;

function times(count: number, way: Way): Way[] {
  return Array.from({ length: count }, () => way);
}

function newWord(): string {
  return `w${randomBytes(6).toString('hex')}`;
}

function below(limit: number): number {
  return Math.floor(Math.random() * limit);
}

function chance(part: number): boolean {
  return Math.random() < part;
}

function pick<T>(list: readonly T[]): T | undefined {
  return list[below(list.length)];
}
