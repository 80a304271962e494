import type { BundlePlanRequest, PackageFacts } from '@quartermaster/contract';
import { shownText } from '../../platform/plain-name.ts';
import { type OpenedArchive, openArchive } from '../packaging/archive.ts';
import type { TrustedPublishers } from '../packaging/trusted-publishers.ts';
import type { OnProgress } from '../pieces/dry-run.ts';
import { archiveOf, type PackedBundle } from './pack-files.ts';
import { integrityOf, type PiecePackage, pieceLimits, readPiecePackage } from './piece-package.ts';
import { idOfArchive, packageRefused } from './problems.ts';
import type { ReadDefinitions } from './read-definitions.ts';
import type { Registry } from './registry.ts';

type Source = Exclude<BundlePlanRequest['source'], { kind: 'installed' }>;

/** What a bundle is from. */
export type Origin = Pick<
  PackageFacts,
  'kind' | 'package' | 'source' | 'version' | 'integrity' | 'publisher' | 'trust' | 'packed_from' | 'licence' | 'bytes'
>;

/** A bundle that is not installed. */
export interface ReadBundle {
  readonly origin: Origin;
  readonly warnings: string[];
  /** Empty without a logo. It is fetched at the installation. */
  readonly logoUrl: string;
  readonly packed: PackedBundle;
}

export interface SourceDeps {
  readonly registry: Registry;
  /** Reads a piece in the sandbox. Returns the files of its bundle, and what its operator should know. */
  readonly readPiece: ReadPiece;
  /** Converts an OpenAPI document or the tools of an MCP server. */
  readonly readDefinitions: ReadDefinitions;
  readonly publishers: Pick<TrustedPublishers, 'list'>;
}

export type ReadPiece = (
  piece: PiecePackage,
  bundleId: string | undefined,
  signal: AbortSignal,
  onProgress?: OnProgress,
) => Promise<{ readonly files: ReadonlyMap<string, Buffer>; readonly warnings: string[]; readonly logoUrl: string }>;

/** Reads what a request names, whatever its kind. @throws Problem or PackagingError */
export async function readSource(
  deps: SourceDeps,
  { source, bundleId }: Wanted<Source['kind']>,
  signal: AbortSignal,
  onProgress?: OnProgress,
): Promise<ReadBundle> {
  switch (source.kind) {
    case 'archive':
      return await readArchive(deps, Buffer.from(source.content, 'base64'), bundleId);
    case 'openapi':
    case 'mcp':
      return await readImport(deps, { source, bundleId }, signal);
    default:
      return await readPackage(deps, { source, bundleId }, signal, onProgress);
  }
}

interface Wanted<Kind extends Source['kind']> {
  readonly source: Extract<Source, { kind: Kind }>;
  readonly bundleId: string | undefined;
}

async function readPackage(
  { registry, readPiece }: SourceDeps,
  { source, bundleId }: Wanted<'piece' | 'piece_file'>,
  signal: AbortSignal,
  onProgress?: OnProgress,
): Promise<ReadBundle> {
  const packed =
    source.kind === 'piece'
      ? await registry.download(source.package, source.version ?? null, signal)
      : Buffer.from(source.content, 'base64');
  const { name, version, integrity, packedFrom, licence, file } = await readPiecePackage(packed);
  if (source.kind === 'piece' && name !== source.package)
    throw packageRefused(`the registry sent ${name} for ${source.package}`, 'Ask its operator.');
  const piece = { name, version, integrity, packedFrom, licence, file };
  const { files, warnings, logoUrl } = await readPiece(piece, bundleId, signal, onProgress);
  const large = `Its code has ${file.length} bytes, so the first run of an action takes longer and needs more memory.`;
  return {
    origin: {
      kind: 'piece',
      package: name,
      source: null,
      version,
      integrity,
      publisher: null,
      trust: null,
      packed_from: packedFrom,
      licence: licence ?? noLicence,
      bytes: file.length,
    },
    warnings: [...warnings, ...(file.length > pieceLimits.warnBytes ? [large] : [])],
    logoUrl,
    packed: await archiveOf(files),
  };
}

const noLicence = 'none stated';

export async function readArchive(
  { publishers }: Pick<SourceDeps, 'publishers'>,
  bytes: Buffer,
  bundleId: string | undefined,
): Promise<ReadBundle> {
  const archive = await openArchive(bytes);
  const own = archive.contents.bundleId;
  if (bundleId !== undefined && bundleId !== own) throw idOfArchive(own);
  const publisher = archive.signature?.public_key ?? null;
  const origin = originOf('archive', archive, own, integrityOf(bytes));
  return {
    origin: { ...origin, publisher, trust: await trustOf(publishers, publisher) },
    warnings: [],
    logoUrl: '',
    packed: { bytes, archive },
  };
}

/** Whether a publisher is trusted now. */
export async function trustOf(
  publishers: SourceDeps['publishers'],
  publisher: string | null,
): Promise<Origin['trust']> {
  if (publisher === null) return 'unsigned';
  return (await publishers.list()).some(({ key }) => key === publisher) ? 'trusted' : 'unknown';
}

async function readImport(
  { readDefinitions }: SourceDeps,
  { source, bundleId }: Wanted<'openapi' | 'mcp'>,
  signal: AbortSignal,
): Promise<ReadBundle> {
  const {
    bytes,
    integrity,
    name,
    licence,
    warnings,
    source: remembered,
  } = await readDefinitions(source, bundleId, signal);
  const archive = await openArchive(bytes);
  const origin = originOf(remembered?.kind ?? source.kind, archive, name, integrity);
  return {
    origin: { ...origin, source: remembered, licence: licence === null ? noLicence : shownText(licence) },
    warnings,
    logoUrl: '',
    packed: { bytes, archive },
  };
}

function originOf(kind: Origin['kind'], { contents }: OpenedArchive, name: string, integrity: string): Origin {
  return {
    kind,
    package: name,
    source: null,
    version: contents.version,
    integrity,
    publisher: null,
    trust: null,
    packed_from: null,
    licence: noLicence,
    bytes: contents.files.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}
