import type { Quartermaster } from '@quartermaster/client';
import { createApi, type FilesApi } from '@quartermaster/client/api';
import type { RecordCreate } from '@quartermaster/contract';
import { connectClient, settledRecord } from '../../test/support/client.ts';
import { loadOrdinaryDocuments, readOrdinaryQuestions } from './ordinary-documents.ts';
import { readSet, retrievalSets } from './retrieval.ts';
import { withService } from './retrieval-service.ts';

/** A question that was asked once with its document and once without it. */
export interface JudgedQuestion {
  readonly half: string;
  readonly isLeftOut: boolean;
  readonly isRight: boolean;
  readonly isGoodMatch: boolean;
}

interface Documents {
  readonly bodies: ReadonlyMap<string, (client: Quartermaster) => Promise<RecordCreate>>;
  readonly questions: readonly JudgeableQuestion[];
}

interface JudgeableQuestion {
  readonly text: string;
  readonly half: string;
  /** The document with the answer; null if there is none. */
  readonly document: string | null;
  /** A text of the passage; null if the document is one passage. */
  readonly answer: string | null;
  /** The documents that are left out: those whose names begin with one of these. */
  readonly answeredBy: readonly string[];
}

export const judgedSets: Readonly<Record<string, () => Documents>> = {
  'ordinary questions': readOrdinary,
  ...Object.fromEntries(retrievalSets.map((name) => [name, () => readArticles(name)])),
};

function readOrdinary(): Documents {
  const bodies = loadOrdinaryDocuments().map(({ path, name, bytes }) => {
    const upload = async (client: Quartermaster): Promise<RecordCreate> => {
      const { file_id } = await client.files.upload(new Blob([new Uint8Array(bytes)]), { name });
      return { type: 'file', file_id };
    };
    return [path, upload] as const;
  });
  const questions = readOrdinaryQuestions().map(({ question, half, document, answer, also }) => {
    const path = document?.path ?? null;
    const answeredBy = [path, also].filter((each) => typeof each === 'string');
    return { text: question, half, document: path, answer, answeredBy };
  });
  return { bodies: new Map(bodies), questions };
}

/** Passages are named `a3p2`: the second of the third article. All passages of an article are left out. */
function readArticles(name: (typeof retrievalSets)[number]): Documents {
  const { documents, questions, right } = readSet(name);
  const bodies = documents.map(
    ({ _id, text }) => [_id, async () => ({ type: 'text', content: text }) as const] as const,
  );
  const judged = questions.map(({ _id, text }, at) => {
    const document = right.get(_id) ?? '';
    const half = at % 2 === 1 ? 'tuning' : 'reporting';
    return { text, half, document, answer: null, answeredBy: [/^a\d+p/.exec(document)?.[0] ?? document] };
  });
  return { bodies: new Map(bodies), questions: judged };
}

/** Asks each question of a set, and once more while its documents are left out. */
export async function judgeMatches({ bodies, questions }: Documents): Promise<JudgedQuestion[]> {
  return withService({}, async ({ url, apiKey }) => {
    const client = connectClient({ filesUrl: url, pluginsUrl: `${url}/plugins` }, apiKey);
    const api = createApi<FilesApi>({ baseUrl: url, headers: () => ({ authorization: `Bearer ${apiKey}` }) });
    const { collection_id } = await client.collections.create({ name: 'left out' });
    const records = new Map<string, string>();
    const add = async (name: string) => {
      const body = await bodies.get(name)?.(client);
      const { record_id } = await client.records.create(collection_id, body ?? {});
      await settledRecord(client, collection_id, record_id);
      records.set(name, record_id);
    };
    const ask = async (
      { text, half, document, answer }: JudgeableQuestion,
      isLeftOut: boolean,
    ): Promise<JudgedQuestion> => {
      const request = { path: { collection_id }, body: { query_text: text } };
      const found = await api.json('POST /v1/collections/{collection_id}/chunks/query', request);
      const [best] = found.data;
      const holds = answer === null || (best !== undefined && normalise(best.content).includes(normalise(answer)));
      const isRight = !isLeftOut && document !== null && best?.record_id === records.get(document) && holds;
      return { half, isLeftOut: isLeftOut || document === null, isRight, isGoodMatch: found.good_match };
    };
    for (const name of bodies.keys()) await add(name);
    const judged: JudgedQuestion[] = [];
    for (const each of questions) judged.push(await ask(each, false));
    for (const asked of Map.groupBy(questions, ({ answeredBy }) => answeredBy.join('\n')).values()) {
      const answeredBy = asked[0]?.answeredBy ?? [];
      if (answeredBy.length === 0) continue;
      const names = [...bodies.keys()].filter((name) => answeredBy.some((each) => name.startsWith(each)));
      for (const name of names) await client.records.delete(collection_id, records.get(name) ?? '');
      for (const each of asked) judged.push(await ask(each, true));
      for (const name of names) await add(name);
    }
    return judged;
  });
}

function normalise(text: string): string {
  return text.normalize('NFKC').replace(/\s+/g, ' '); // not untrusted: the documents of the set
}

/** Renders the part of the reference page about good matches. */
export function describeMatches(sets: ReadonlyMap<string, readonly JudgedQuestion[]>): string {
  const share = (asked: readonly JudgedQuestion[], digits: number, factor = 1) =>
    ((factor * asked.filter((each) => each.isGoodMatch).length) / Math.max(asked.length, 1)).toFixed(digits);
  const all = [...sets.values()].flat();
  const rows = [...sets, ['all', all] as const].map(([name, judged]) => {
    const cells = ['tuning', 'reporting'].flatMap((half) => {
      const part = judged.filter((each) => each.half === half);
      const [right, without] = [part.filter((each) => each.isRight), part.filter((each) => each.isLeftOut)];
      return [right.length, share(right, 2), without.length, `${share(without, 1, 100)} %`];
    });
    return `| ${name} | ${cells.join(' | ')} |`;
  });
  return `## Good matches

Each question is asked again while the document with its answer is left out; of the sets of [what questions find](retrieval.md) all passages of
its article. *right* is the number of questions whose first chunk is right, with the share that has \`good_match\`; *without* the number of
questions without an answer, with the share that has it nevertheless. The rule was chosen on the tuning half.

| set | right | good | without | good | right | good | without | good |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}
