import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Quartermaster } from '@quartermaster/client';
import { purposes, purposesFor } from '@quartermaster/contract/formats';
import { connect } from '../connection/connection.ts';
import type { ServiceOptions } from '../connection/service-command.ts';
import { eachItem } from '../each-item.ts';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { uploadFile } from '../files/upload-file.ts';
import { readSecret } from '../login/read-secret.ts';
import { printJson, say } from '../output/print.ts';
import { readObject } from '../read-arguments.ts';
import { waitForRecord } from './wait-for-record.ts';

export interface AddOptions extends ServiceOptions {
  readonly file?: readonly string[];
  readonly text?: string;
  readonly web?: string;
  readonly title?: string;
  readonly metadata?: string;
  readonly onDuplicate?: 'skip' | 'replace' | 'keep';
  readonly columns?: string;
  readonly passwordFile?: string;
  readonly wait?: true;
  readonly timeout: number;
}

type RecordBody = Parameters<Quartermaster['records']['create']>[1];

/** The collection that receives the records. */
interface Target {
  readonly qm: Quartermaster;
  readonly type: 'text' | 'qa';
}

/** Creates one record from each source. A source that fails does not stop the others. */
export async function addRecords(collectionId: string, paths: readonly string[], options: AddOptions): Promise<void> {
  const { file = [], text, web, title } = options;
  const sources = new Map<string, (target: Target) => Promise<RecordBody>>([
    ...paths.map((path) => [path, async (target: Target) => await upload(target, path)] as const),
    ...file.map((id) => [id, async ({ qm }: Target) => await describeFile(qm, id)] as const),
    ...(text === undefined ? [] : [['--text', async () => ({ type: 'text', content: text }) as const] as const]),
    ...(web === undefined ? [] : [['--web', async () => ({ type: 'web', url: web }) as const] as const]),
  ]);
  if (sources.size === 0)
    throw new CommandError(exitCodes.usage, 'There is nothing to add. Name a file, or use --file, --text or --web.');
  if (title !== undefined && sources.size > 1)
    throw new CommandError(exitCodes.usage, '--title is allowed for one record only.');
  const common = { ...readCommon(options), ...(await readPassword(options)) };
  const qm = await connect(options, 'files');
  const { type } = await qm.collections.get(collectionId);
  await eachItem([...sources.keys()], async (source) => {
    const body = { ...(await sources.get(source)?.({ qm, type })), ...common } as RecordBody; // the service checks the metadata
    const record = await qm.records.create(collectionId, body);
    if (options.wait === true) {
      const { timeout, json } = options;
      await waitForRecord(qm, { collectionId, recordId: record.record_id, timeout, json });
    } else if (options.json === true) printJson(record);
    else say(sources.size === 1 ? record.record_id : `${record.record_id}  ${source}`);
  });
}

function readCommon({ title, metadata, onDuplicate, columns }: AddOptions) {
  return {
    ...(title === undefined ? {} : { title }),
    ...(metadata === undefined ? {} : { metadata: readObject(metadata, '--metadata') }),
    ...(onDuplicate === undefined ? {} : { on_duplicate: onDuplicate }),
    ...(columns === undefined ? {} : { columns: readObject(columns, '--columns') }),
  };
}

/** Reads the password of the files, because all users can see a command line. The end of its line does not count. */
async function readPassword({ passwordFile }: AddOptions) {
  if (passwordFile === undefined) return {};
  const text = passwordFile === '-' ? await readSecret('Password of the file: ') : await readFile(passwordFile, 'utf8');
  return { password: text.replace(/\r?\n$/, '') };
}

/**
 * Uploads a file with the purpose that fits the collection. The upload of a file that the collection cannot use would
 * leave it without a record. The service refuses an extension that no purpose accepts.
 */
async function upload({ qm, type }: Target, path: string): Promise<RecordBody> {
  const accepted = purposesFor(extname(path).slice(1).toLowerCase());
  const purpose = accepted.find((name) => purposes[name].collectionType === type);
  const needed = accepted[0] === undefined ? 'text' : purposes[accepted[0]].collectionType;
  if (purpose === undefined && type !== needed)
    throw new CommandError(
      exitCodes.invalidData,
      `${path} needs a collection of type "${needed}"; this one has type "${type}". Nothing was uploaded. Name another collection.`,
    );
  return toBody(await uploadFile(qm, path, purpose === undefined ? {} : { purpose }));
}

async function describeFile(qm: Quartermaster, fileId: string): Promise<RecordBody> {
  return toBody(await qm.files.get(fileId));
}

/** The purpose of a file decides the type of its record. */
function toBody({ file_id, purpose }: { file_id: string; purpose: string }): RecordBody {
  return { type: purpose === 'qa_record_file' ? 'qa_sheet' : 'file', file_id };
}
