import type { PluginCall } from '@quartermaster/contract';
import type { CommonDeps } from '../../../platform/common-deps.ts';
import { isId } from '../../../platform/identifier.ts';
import { Counter } from '../../../platform/metrics.ts';
import { fileReachOf } from '../../../platform/permissions.ts';
import { objectNotFound, Problem } from '../../../platform/problem.ts';
import { BlobMissing } from '../../../stores/files/blob-store.ts';
import type { FileAccess } from '../../../stores/files/file-access.ts';
import type { ArtifactStore } from '../../artifacts/artifact-store.ts';
import { usualMediaType } from '../../artifacts/media-types.ts';
import type { FileReference } from '../../catalogue/file-references.ts';
import { hasSignature, mayBeInArchive, mediaTypeOf } from '../output-parts/signatures.ts';
import type { RunCaller } from '../run.ts';
import { findReferences, type ReferencePlace } from './find-references.ts';
import {
  artifactExpired,
  fileInputsBusy,
  fileInputsTooLarge,
  fileLengthRefused,
  filesNotReachable,
  fileTypeRefused,
  keyNeededForFile,
  scopeNeededForFile,
  tooManyFileInputs,
} from './problems.ts';

/** Bounds of the files that inputs name. */
export const fileInputLimits = {
  /** References of one input. */
  references: 16,
  /** The maximum number of bytes of all files of one input. */
  inputBytes: 8 * 1024 * 1024,
  /** The maximum number of bytes of the input files of all current runs of a process. */
  processBytes: 64 * 1024 * 1024,
} as const;

export type FileCaller = Pick<RunCaller, 'projectId' | 'keyId' | 'permissions' | 'resumes' | 'onCounted'>;

/** The base64 that replaces the references of an input, by their JSON Pointers. */
export type InputFiles = ReadonlyMap<string, string>;

export const noFiles: InputFiles = new Map();

/** Reads the files and artifacts that an input names, as base64. Source: ADR 0102. */
export interface FileInputs {
  /**
   * Calls `work` with the files of the request. Its input must have been checked: this reads up to
   * `fileInputLimits.inputBytes`.
   * @throws Problem when the caller may not read files, or a file cannot be sent
   */
  read<T>(request: PluginCall, caller: FileCaller, work: (files: InputFiles) => Promise<T>): Promise<T>;
}

/** Where stored bytes can be read. */
export interface FileSources {
  readonly files: FileAccess;
  readonly artifacts: Pick<ArtifactStore, 'findStored' | 'open'>;
}

export interface FileInputsDeps extends Pick<CommonDeps, 'admission' | 'logger' | 'metrics'> {
  /** The input schema of a plugin; undefined for an unknown plugin, and for one whose inputs take no file content. */
  readonly schemaOf: (bundleId: string, pluginId: string) => (() => Readonly<Record<string, unknown>>) | undefined;
  /** null where this process cannot read stored bytes. */
  readonly sources: FileSources | null;
}

interface Content {
  readonly bytes: number;
  readonly open: () => AsyncIterable<Uint8Array>;
}

export function createFileInputs({ schemaOf, sources, logger, metrics, admission }: FileInputsDeps): FileInputs {
  const passed = new Counter({
    name: 'quartermaster_input_files_total',
    help: 'Files and artifacts that inputs of plugins named, by result: `passed`, or the code of the error in lower case.',
    labelNames: ['kind', 'result'] as const,
    registers: [metrics],
  });
  const bytesPassed = new Counter({
    name: 'quartermaster_input_file_bytes_total',
    help: 'Bytes of files and artifacts that were passed to plugins.',
    registers: [metrics],
  });
  const inputs = admission.places('input_files', {
    places: Number.POSITIVE_INFINITY,
    sizes: fileInputLimits.processBytes,
    refuse: fileInputsBusy,
  });

  async function findContent(place: ReferencePlace, caller: FileCaller): Promise<Content> {
    const { kind, id } = place.reference;
    const { projectId } = caller;
    // A run that was accepted earlier names what its key saw then.
    const permissions = caller.resumes === undefined ? caller.permissions : undefined;
    if (sources === null) throw filesNotReachable(place.path);
    if (kind === 'artifact') {
      const artifact = isId(id) ? await sources.artifacts.findStored(projectId, id) : undefined;
      if (artifact === undefined) throw objectNotFound(kind, id);
      const isHidden =
        artifact !== 'expired' && permissions?.tools != null && !permissions.keyIds.has(artifact.keyId ?? '');
      if (isHidden) throw objectNotFound(kind, id);
      if (artifact === 'expired') throw artifactExpired(place.path);
      return { bytes: artifact.bytes, open: () => sources.artifacts.open(artifact) };
    }
    const reach = permissions === undefined ? null : fileReachOf(permissions);
    const file = isId(id) && projectId !== null ? await sources.files.findFile(projectId, id, reach) : undefined;
    if (file === undefined) throw objectNotFound(kind, id);
    return { bytes: file.bytes, open: () => sources.files.open(file) };
  }

  async function readPlaces<T>(
    { places, caller, request }: FilledPlaces,
    work: (files: InputFiles) => Promise<T>,
  ): Promise<T> {
    checkPermission(places, caller);
    const contents: Content[] = [];
    for (const place of places) contents.push(await findContent(place, caller));
    const bytes = sumOf(places, contents);
    const leave = inputs.enter(caller, bytes);
    try {
      const texts = new Map<string, string>();
      for (const [index, place] of places.entries()) {
        const content = contents[index];
        if (content !== undefined) texts.set(place.path, await readAsBase64(place, content));
      }
      bytesPassed.inc(bytes);
      for (const { reference } of places) passed.inc({ kind: reference.kind, result: 'passed' });
      logger.info(describe({ places, caller, request }, bytes), 'stored files passed to plugin');
      return await work(texts);
    } finally {
      leave();
    }
  }

  return {
    async read(request, caller, work) {
      const schema = schemaOf(request.bundle_id, request.plugin_id);
      const places = schema === undefined ? [] : findReferences(schema, request.input_params);
      const [first] = places;
      if (first === undefined) return await work(noFiles);
      let hasBegun = false;
      const begin = (files: InputFiles) => {
        hasBegun = true;
        return work(files);
      };
      try {
        return await readPlaces({ places, caller, request }, begin);
      } catch (error) {
        const result = error instanceof Problem ? error.code.toLowerCase() : 'failed';
        if (!hasBegun) passed.inc({ kind: first.reference.kind, result });
        throw error;
      }
    },
  };
}

interface FilledPlaces {
  readonly places: readonly ReferencePlace[];
  readonly caller: FileCaller;
  readonly request: PluginCall;
}

function checkPermission([first, ...others]: readonly ReferencePlace[], caller: FileCaller): void {
  if (first === undefined) return;
  // The key of a run that was accepted earlier had the scope then.
  if (caller.resumes === undefined) {
    if (caller.keyId === null) throw keyNeededForFile(first.path);
    if (caller.permissions?.has('files:read') !== true) throw scopeNeededForFile(first.path);
  }
  const { references } = fileInputLimits;
  const excess = others[references - 1];
  if (excess !== undefined) throw tooManyFileInputs(excess.path, references);
}

/** @throws Problem before anything is read */
function sumOf(places: readonly ReferencePlace[], contents: readonly Content[]): number {
  const { inputBytes: limit } = fileInputLimits;
  let found = 0;
  for (const [index, { path, minLength, maxLength }] of places.entries()) {
    const bytes = contents[index]?.bytes ?? 0;
    const characters = 4 * Math.ceil(bytes / 3);
    if (characters < minLength) throw fileLengthRefused(path, characters, `at least ${minLength}`);
    if (characters > maxLength) throw fileLengthRefused(path, characters, `at most ${maxLength}`);
    found += bytes;
    if (found > limit) throw fileInputsTooLarge(path, { limit, found });
  }
  return found;
}

async function readAsBase64({ path, reference, mediaType }: ReferencePlace, { open }: Content): Promise<string> {
  const bytes = await readAll(reference, open);
  const found = mediaType === undefined ? undefined : findOtherType(mediaType, bytes);
  if (mediaType !== undefined && found !== undefined) throw fileTypeRefused(path, { wanted: mediaType, found });
  return bytes.toString('base64');
}

/** A file that is deleted while it is read results in the same error as one that was deleted before. */
async function readAll({ kind, id }: FileReference, open: Content['open']): Promise<Buffer> {
  try {
    return Buffer.concat(await Array.fromAsync(open()));
  } catch (error) {
    if (error instanceof BlobMissing) throw objectNotFound(kind, id);
    throw error;
  }
}

/** The event: which key passed which files to which plugin. */
function describe({ places, caller, request }: FilledPlaces, bytes: number): Record<string, unknown> {
  const idsOf = (kind: FileReference['kind']) =>
    places.flatMap(({ reference }) => (reference.kind === kind ? [reference.id] : []));
  return {
    event: 'files_passed_to_plugin',
    project: caller.projectId,
    key: caller.keyId,
    bundle: request.bundle_id,
    plugin: request.plugin_id,
    files: idsOf('file'),
    artifacts: idsOf('artifact'),
    bytes,
  };
}

/** Formats that others are stored in: a Word document is a ZIP archive. */
const containers = new Set(['application/zip', 'application/gzip']);

/** Types of one container format (ISO/IEC 14496-12), whose first bytes do not tell them apart for certain. */
const isoMedia = new Set(['audio/mp4', 'video/mp4', 'video/quicktime', 'image/heic', 'image/heif']);

/**
 * Returns the media type of bytes that differ from what a field requires; undefined when they may be what it requires. A type
 * whose first bytes are not known cannot be checked.
 * @param wanted a media type, or a range such as `image/*`
 */
export function findOtherType(wanted: string, bytes: Buffer): string | undefined {
  const type = usualMediaType(wanted.split(';', 1)[0]?.trim() ?? '');
  const found = mediaTypeOf(bytes);
  if (type === 'application/octet-stream' || type === '*/*' || type === '') return undefined;
  const isRange = type.endsWith('/*');
  if (found === undefined) return !isRange && hasSignature(type) ? 'bytes of another type' : undefined;
  if (isRange ? found.startsWith(type.slice(0, -1)) : found === type) return undefined;
  if (isoMedia.has(found) && isoMedia.has(type)) return undefined;
  const mayContain = containers.has(found) && !isRange;
  return mayContain && (mayBeInArchive(type) || !hasSignature(type)) ? undefined : found;
}
