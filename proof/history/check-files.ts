import { type CheckOptions, fates, forEachConcurrently, getJson, only } from './check-options.ts';
import { type Fate, fateOf } from './history.ts';
import { sendRequest, type Target } from './send-request.ts';

/**
 * Checks that every acknowledged upload exists byte for byte, every deleted file is gone and every key has one
 * response.
 */
export async function checkUploads(options: CheckOptions): Promise<void> {
  const deleted = fates(options.operations, 'delete file', ({ fileId }) => fileId);
  const files = await listFiles(options.target);
  checkFiles(options, files, deleted);
  await checkContents(options, files, deleted);
  await checkKeys(options, files, deleted);
}

interface ListedFile {
  readonly file_id: string;
  readonly file_name: string;
  readonly sha256: string;
}

async function listFiles(target: Target): Promise<Map<string, ListedFile>> {
  const files = new Map<string, ListedFile>();
  for (let after = ''; ; ) {
    const { status, body } = await getJson(target, `${target.filesUrl}/v1/files?limit=100${after}`);
    if (status !== 200) throw new Error(`the list of files was answered ${status}: ${JSON.stringify(body)}`);
    const page = body as { data: ListedFile[]; has_more: boolean }; // the shape that the contract describes
    for (const file of page.data) files.set(file.file_id, file);
    if (!page.has_more) return files;
    after = `&after=${page.data.at(-1)?.file_id}`;
  }
}

function checkFiles(
  { operations, findings }: CheckOptions,
  files: Map<string, ListedFile>,
  deleted: Map<string, Fate>,
): void {
  const uploads = only(operations, 'upload');
  const hashes = Map.groupBy(uploads, ({ request }) => request.name);
  for (const one of uploads.filter((upload) => fateOf(upload) === 'done')) {
    const id = one.answer?.id ?? '';
    const file = files.get(id);
    const fate = deleted.get(id);
    if (file === undefined && (fate === undefined || fate === 'refused')) {
      findings.add('lost', `${one.request.name} was acknowledged as ${id} and is not listed`);
    }
    if (file !== undefined && fate === 'done') findings.add('resurrected', `${id} was deleted and is listed`);
    if (file !== undefined && file.sha256 !== one.request.content.sha256) {
      findings.add('wrong bytes', `${id} is listed with another hash`);
    }
  }
  for (const [name, twins] of Map.groupBy(files.values(), ({ file_name }) => file_name)) {
    if (twins.length > 1)
      findings.add('duplicated', `${name} was sent once or with one key and is listed ${twins.length} times`);
  }
  for (const { file_id, file_name, sha256 } of files.values()) {
    const sent = hashes.get(file_name) ?? [];
    if (!sent.some(({ request }) => request.content.sha256 === sha256)) {
      findings.add('inconsistent', `${file_id} (${file_name}) is a file that no client sent`);
    }
  }
}

async function checkContents(
  { target, operations, findings, random, contents = 12 }: CheckOptions,
  files: Map<string, ListedFile>,
  deleted: Map<string, Fate>,
): Promise<void> {
  const done = only(operations, 'upload').filter((one) => fateOf(one) === 'done');
  const existing = done.filter(({ answer }) => !deleted.has(answer?.id ?? ''));
  const checked = new Set([...existing.slice(-contents), ...random.shuffle(existing).slice(0, contents)]);
  const acknowledged = new Set(done.map(({ answer }) => answer?.id));
  // A file that is listed without an acknowledgement must be whole as well.
  const inDoubt = [...files.values()].filter(({ file_id }) => !acknowledged.has(file_id)).slice(0, contents);
  const wanted = new Map(inDoubt.map(({ file_id, sha256 }) => [file_id, sha256]));
  for (const { request, answer } of checked) wanted.set(answer?.id ?? '', request.content.sha256);
  await forEachConcurrently([...wanted], async ([fileId, sha256]) => {
    const read = await sendRequest(target, { what: 'read file', fileId, sha256 });
    const fate = acknowledged.has(fileId) ? 'acknowledged' : 'listed';
    if (read?.sha256 === undefined) findings.add('lost', `${fileId} is ${fate} and cannot be read: ${read?.status}`);
    else if (read.sha256 !== sha256) findings.add('wrong bytes', `${fileId} has other bytes than were sent`);
  });
  // A client repairs a file by sending it again; the content must be readable afterwards.
  for (const { request } of random.shuffle(done).slice(0, 3)) {
    const again = await sendRequest(target, {
      what: 'upload',
      name: `check-${request.name}`,
      content: request.content,
    });
    if (again?.status !== 200) {
      findings.add('wrong error', `the same content again was answered ${again?.status} ${again?.code}`);
      continue;
    }
    const read = await sendRequest(target, { what: 'read file', fileId: again.id ?? '', sha256: '' });
    if (read?.sha256 !== request.content.sha256) findings.add('lost', `${again.id}, sent again, cannot be read`);
    await sendRequest(target, { what: 'delete file', fileId: again.id ?? '' });
  }
}

/**
 * The limit of wrong requests, by the id of the first response. Ten wrong requests close an idempotency key (ADR 0083),
 * and one store is checked many times.
 */
const mostWrongRequests = 8;
const wrongRequests = new Map<string, number>();

async function checkKeys(
  { target, operations, findings, random }: CheckOptions,
  files: Map<string, ListedFile>,
  deleted: Map<string, Fate>,
): Promise<void> {
  const keyed = only(operations, 'upload').filter(({ request }) => request.key !== undefined);
  for (const [key, all] of Map.groupBy(keyed, ({ request }) => request.key)) {
    const ids = new Set(all.filter((one) => fateOf(one) === 'done').map(({ answer }) => answer?.id));
    if (ids.size > 1) findings.add('duplicated', `the key ${key} has the answers ${[...ids].join(' and ')}`);
  }
  const answered = keyed.filter((one) => fateOf(one) === 'done' && !deleted.has(one.answer?.id ?? ''));
  const inDoubt = keyed.filter((one) => fateOf(one) === 'unknown');
  for (const { request, answer } of [...random.shuffle(answered).slice(0, 4), ...answered.slice(-2)]) {
    const again = await sendRequest(target, request);
    if (again?.id !== answer?.id) {
      findings.add('duplicated', `${request.key} gave ${answer?.id}, and again ${again?.status} ${again?.id}`);
    }
    const wrong = wrongRequests.get(answer?.id ?? '') ?? 0;
    if (wrong >= mostWrongRequests) continue;
    wrongRequests.set(answer?.id ?? '', wrong + 1);
    const { content } = request;
    const other = await sendRequest(target, { ...request, content: { ...content, seed: content.seed + 7 } });
    if (other?.status !== 422) findings.add('duplicated', `${request.key} with other content: ${other?.status}`);
  }
  for (const { request } of random.shuffle(inDoubt).slice(0, 4)) {
    const first = await sendRequest(target, request);
    // The claim of the interrupted request may still hold.
    if (first?.status === 409) continue;
    const second = await sendRequest(target, request);
    const twins = [...files.values()].filter(({ file_name }) => file_name === request.name);
    if (twins.some(({ file_id }) => file_id !== first?.id)) {
      findings.add('duplicated', `${request.key}, in doubt, has created ${request.name} twice`);
    }
    if (first?.status !== 200 || first.id !== second?.id) {
      findings.add('duplicated', `${request.key}, in doubt: ${first?.status} ${first?.id}, then ${second?.id}`);
    }
  }
}
