import type { ContentBlock } from '@modelcontextprotocol/server';
import type { ExecuteResult, OutputArtifact } from '@quartermaster/contract';
import { findMedia, replaceAt } from '../execution/output-parts/find-parts.ts';
import { type OutputPart, placeholderOf } from '../execution/output-parts/output-part.ts';
import { isJsonObject } from '../kernel/json/json-object.ts';
import { pictureLimits } from '../pictures/picture-limits.ts';

/** How the media of a run that has just ended are read. */
export interface ReadMedia {
  /** Undefined when the artifact is gone. */
  readonly readArtifact: (artifactId: string) => Promise<Buffer | undefined>;
  /** Converts an SVG picture; undefined when it cannot be converted. */
  readonly toPng: (svg: Uint8Array) => Promise<Uint8Array | undefined>;
}

/** An output for a model: no base64 is left in `data`, and media have contents of their own. */
export interface ResultContents {
  readonly data: unknown;
  readonly contents: readonly ContentBlock[];
}

/** Bounds of the media that a result carries. Others are links. */
export const mediaLimits = {
  /** Images and audio clips. */
  blocks: 4,
  /** Bytes of all of them together. Providers of models refuse larger pictures. */
  bytes: 3 * 1024 * 1024,
  /** Links, of artifacts and of imported servers. */
  links: 16,
} as const;

const pictures = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const clips = new Set(['audio/wav', 'audio/mpeg', 'audio/ogg']);
const drawing = 'image/svg+xml';

/**
 * Replaces media in an output by placeholders, and returns each picture and clip as one content. An artifact has a link with its
 * signed URL.
 */
export async function readContents(
  { data, artifacts = [] }: Pick<ExecuteResult, 'data' | 'artifacts'>,
  { readArtifact, toPng }: ReadMedia,
): Promise<ResultContents> {
  const found = findMedia(data);
  const shown = createShownMedia();
  const placeholders = found.map((part) => {
    const artifact = artifacts.find(({ path }) => path === part.path);
    shown.add(part.mediaType, part.bytes);
    return [part.path, describePart(part, artifact)] as const;
  });
  const isInline = (artifact: OutputArtifact) => found.some(({ path }) => path === artifact.path);
  const stored = distinct(artifacts);
  for (const { artifact_id: id, media_type: type, bytes } of stored.filter((artifact) => !isInline(artifact))) {
    if (!shown.fits(type, bytes)) continue;
    const content = await readArtifact(id);
    if (content !== undefined) shown.add(type, content);
  }
  await showDrawings(shown, toPng);
  return {
    data: replaceAt(data, new Map(placeholders)),
    contents: [...shown.blocks, ...[...stored.map(linkTo), ...linksOf(data)].slice(0, mediaLimits.links)],
  };
}

/** Clients show no SVG. Beside a picture, an SVG is usually the same in another format, such as that of a QR code. */
async function showDrawings(shown: ShownMedia, toPng: ReadMedia['toPng']): Promise<void> {
  if (shown.blocks.some(({ type }) => type === 'image')) return;
  for (const svg of shown.drawings) {
    const png = await toPng(svg);
    if (png !== undefined) shown.add('image/png', png);
  }
}

function describePart(part: OutputPart, artifact: OutputArtifact | undefined): string {
  if (artifact !== undefined) return placeholderOf(part, artifact.artifact_id);
  return `${part.prefix}(${part.mediaType}, ${part.bytes.length} bytes)`;
}

type ShownMedia = ReturnType<typeof createShownMedia>;

/** Equal bytes are shown once, although an output may hold them several times. */
function createShownMedia() {
  const blocks: ContentBlock[] = [];
  const drawings: Uint8Array[] = [];
  const seen: Uint8Array[] = [];
  let bytesLeft: number = mediaLimits.bytes;
  const fits = (mimeType: string, bytes: number): boolean => {
    if (mimeType === drawing) return drawings.length < mediaLimits.blocks && bytes <= pictureLimits.svgBytes;
    return (pictures.has(mimeType) || clips.has(mimeType)) && blocks.length < mediaLimits.blocks && bytes <= bytesLeft;
  };
  return {
    blocks,
    /** SVG pictures, which have no block of their own. */
    drawings,
    fits,
    add(mimeType: string, bytes: Uint8Array): void {
      if (!fits(mimeType, bytes.length) || seen.some((one) => Buffer.compare(one, bytes) === 0)) return;
      seen.push(bytes);
      if (mimeType === drawing) return void drawings.push(bytes);
      bytesLeft -= bytes.length;
      const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
      blocks.push({ type: pictures.has(mimeType) ? 'image' : 'audio', mimeType, data });
    },
  };
}

function distinct(artifacts: readonly OutputArtifact[]): OutputArtifact[] {
  return [...new Map(artifacts.map((artifact) => [artifact.artifact_id, artifact])).values()];
}

function linkTo(artifact: OutputArtifact): ContentBlock {
  const { file_url: uri, file_name: name, media_type: mimeType, bytes: size } = artifact;
  return { type: 'resource_link', uri, name, mimeType, size };
}

const longestUri = 2048;

/** The links of an imported MCP server, which its output holds in `content`. */
function linksOf(data: unknown): ContentBlock[] {
  const blocks: unknown = isJsonObject(data) ? data.content : undefined;
  return (Array.isArray(blocks) ? blocks : []).filter(isJsonObject).flatMap((block): ContentBlock[] => {
    const { type, uri, name, mimeType } = block;
    if (type !== 'resource_link' || typeof uri !== 'string' || typeof name !== 'string') return [];
    if (uri.length > longestUri || name.length > longestUri) return [];
    return [{ type, uri, name, ...(typeof mimeType === 'string' ? { mimeType } : {}) }];
  });
}
