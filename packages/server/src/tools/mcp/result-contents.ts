import { hash } from 'node:crypto';
import type { ContentBlock } from '@modelcontextprotocol/server';
import type { Artifact, ExecuteResult, OutputArtifact } from '@quartermaster/contract';
import { findMedia, replaceAt } from '../execution/output-parts/find-parts.ts';
import { type OutputPart, outputPartLimits, placeholderOf } from '../execution/output-parts/output-part.ts';
import { pictureLimits } from '../pictures/picture-limits.ts';
import { contentsOf, type PassedBlock, readLink, readMediaBlock, readNote, readResource } from './passed-contents.ts';

/** How the media of a run that has just ended are read. */
export interface ReadMedia {
  /** Undefined when the artifact is gone. */
  readonly readArtifact: (artifact: OutputArtifact) => Promise<Buffer | undefined>;
  /** Converts an SVG picture; undefined when it cannot be converted. */
  readonly toPng: (svg: Uint8Array) => Promise<Uint8Array | undefined>;
  /** Whether this process stores outputs of plugins. */
  readonly storesArtifacts: boolean;
}

/** An output for a model: no base64 is left in `data`, and media have contents of their own. */
export interface ResultContents {
  readonly data: unknown;
  readonly contents: readonly ContentBlock[];
}

/**
 * Bounds of the pictures and sounds that a result shows. Others are links, or embedded resources when they are not stored. A higher
 * bound was rejected: clients refuse or drop larger results (docs/guides/mcp.md).
 */
export const mediaLimits = {
  /** Images and audio clips. */
  blocks: 4,
  /** The maximum number of bytes of all pictures together. Model providers refuse larger ones. */
  bytes: 3 * 1024 * 1024,
  /** Links of imported servers. */
  links: 16,
} as const;

const pictures = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const clips = new Set(['audio/wav', 'audio/mpeg', 'audio/ogg']);
const drawing = 'image/svg+xml';

/**
 * Replaces media in an output by placeholders, and returns each picture and clip as one content. An artifact has a link with its
 * signed URL. Media without an artifact stay in the result.
 */
export async function readContents(
  { data, artifacts = [], contents: beside = [] }: Pick<ExecuteResult, 'data' | 'artifacts' | 'contents'>,
  { readArtifact, toPng, storesArtifacts }: ReadMedia,
): Promise<ResultContents> {
  // All media of the output. Each has at least 64 bytes, which limits their number.
  const found = findMedia(data, Number.POSITIVE_INFINITY);
  const shown = createShownMedia();
  const unstored = createUnstoredMedia();
  const byPath = new Map(artifacts.map((artifact) => [artifact.path, artifact]));
  const placeholders = found.map((part) => {
    const artifact = byPath.get(part.path);
    const isShown = shown.add(part.mediaType, part.bytes);
    if (artifact !== undefined) return [part.path, placeholderOf(part, artifact.artifact_id)] as const;
    return [part.path, unstored.add(part, isShown)] as const;
  });
  const inline = new Set(found.map(({ path }) => path));
  const stored = distinct(artifacts);
  for (const artifact of stored.filter(({ path }) => !inline.has(path))) {
    const { media_type: type, bytes } = artifact;
    if (!shown.fits(type, bytes)) continue;
    const content = await readArtifact(artifact);
    if (content !== undefined) shown.add(type, content);
  }
  const passed = passOn(contentsOf({ data, contents: beside }), { shown, isFound: (path) => inline.has(path) });
  await showDrawings(shown, toPng);
  const note = describeUnstored(unstored.count, { storesArtifacts, hasArtifacts: artifacts.length > 0 });
  return {
    data: replaceAt(data, new Map([...placeholders, ...passed.placeholders])),
    contents: [
      ...[...shown.blocks, ...unstored.blocks, ...passed.resources],
      ...[...stored.map(linkTo), ...passed.links, ...passed.notes],
      ...(unstored.count === 0 ? [] : [{ type: 'text' as const, text: note }]),
    ],
  };
}

interface PassOptions {
  readonly shown: ShownMedia;
  /** Whether the value at a path of the output is a picture or another medium, which is shown already. */
  readonly isFound: (path: string) => boolean;
}

/** Passes on the contents of an imported MCP server: links, embedded resources, and media beside a structured output. */
function passOn(blocks: readonly PassedBlock[], { shown, isFound }: PassOptions) {
  const links: ContentBlock[] = [];
  const resources: ContentBlock[] = [];
  const notes: ContentBlock[] = [];
  let leftOut = 0;
  const placeholders: (readonly [path: string, text: string])[] = [];
  for (const { block, path } of blocks) {
    const passed = passBlock({ block, path });
    // A part that does not fit stays in the output. A content outside the output is lost if this result omits it.
    if (!passed && path === undefined) leftOut += 1;
  }
  if (leftOut > 0) notes.push({ type: 'text', text: describeLeftOut(leftOut) });
  return { links, resources, notes, placeholders };

  /** @returns whether the result has the content */
  function passBlock({ block, path }: PassedBlock): boolean {
    const link = readLink(block);
    if (link !== undefined) return links.length < mediaLimits.links && links.push(link) > 0;
    const isBeside = path === undefined;
    const note = isBeside ? readNote(block) : undefined;
    if (note !== undefined) return notes.push(note) > 0;
    const media = isBeside ? readMediaBlock(block) : undefined;
    // A drawing may still be converted.
    if (media !== undefined) return shown.add(media.mimeType, media.bytes) || media.mimeType === drawing;
    const resource = readResource(block);
    const blob = `${path}/resource/blob`;
    if (resource === undefined || (!isBeside && isFound(blob))) return false;
    if (resources.length >= mediaLimits.blocks || !shown.take(resource.bytes)) return false;
    if (!isBeside && resource.isBlob) placeholders.push([blob, `(${resource.mimeType}, ${resource.bytes} bytes)`]);
    return resources.push(resource.content) > 0;
  }
}

function describeLeftOut(count: number): string {
  const { blocks, bytes, links } = mediaLimits;
  return `Contents of the imported server that this result leaves out: ${count}. A result passes on at most ${blocks} pictures and sounds and ${blocks} resources of ${bytes} bytes together, and ${links} links. POST /v1/execute returns all of them.`;
}

/** Clients show no SVG. Beside a picture, an SVG is usually the same in another format, such as that of a QR code. */
async function showDrawings(shown: ShownMedia, toPng: ReadMedia['toPng']): Promise<void> {
  if (shown.blocks.some(({ type }) => type === 'image')) return;
  for (const svg of shown.drawings) {
    const png = await toPng(svg);
    if (png !== undefined) shown.add('image/png', png);
  }
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
    /** Reserves bytes of the remaining allowance for another content. @returns false when they exceed it */
    take(bytes: number): boolean {
      if (bytes > bytesLeft) return false;
      bytesLeft -= bytes;
      return true;
    },
    /** @returns whether a block shows these bytes */
    add(mimeType: string, bytes: Uint8Array): boolean {
      if (seen.some((one) => Buffer.compare(one, bytes) === 0)) return mimeType !== drawing;
      if (!fits(mimeType, bytes.length)) return false;
      seen.push(bytes);
      if (mimeType === drawing) {
        drawings.push(bytes);
        return false;
      }
      bytesLeft -= bytes.length;
      const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
      blocks.push({ type: pictures.has(mimeType) ? 'image' : 'audio', mimeType, data });
      return true;
    },
  };
}

function distinct(artifacts: readonly OutputArtifact[]): OutputArtifact[] {
  // Artifacts of a run without a key have no id.
  return [...new Map(artifacts.map((artifact) => [artifact.file_url, artifact])).values()];
}

export function linkTo(artifact: Artifact): ContentBlock {
  const { file_url: uri, file_name: name, media_type: mimeType, bytes: size } = artifact;
  return { type: 'resource_link', uri, name, mimeType, size };
}

interface UnstoredMedia {
  /** The media that no other content holds. */
  readonly blocks: readonly ContentBlock[];
  readonly count: number;
  /** @returns what the output holds in place of the value */
  add(part: OutputPart, isShown: boolean): string;
}

/**
 * Media of an output that have no artifact. A text such as an SVG picture stays in the output. Base64 becomes an embedded
 * resource, so that the result holds it once and the text of the result does not hold it.
 */
function createUnstoredMedia(): UnstoredMedia {
  const blocks: ContentBlock[] = [];
  const uris = new Map<string, string>();
  let count = 0;

  function embed({ path, mediaType, bytes }: OutputPart): string {
    const digest = hash('sha256', bytes);
    const known = uris.get(digest);
    if (known !== undefined) return known;
    const uri = `output:${path.split('/').map(encodeURIComponent).join('/')}`;
    uris.set(digest, uri);
    const blob = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
    blocks.push({ type: 'resource', resource: { uri, mimeType: mediaType, blob } });
    return uri;
  }

  return {
    blocks,
    get count() {
      return count;
    },
    add(part, isShown) {
      count += 1;
      if (part.form === 'text') return Buffer.from(part.bytes).toString();
      return part.prefix + (isShown ? `(${part.mediaType}, ${part.bytes.length} bytes)` : embed(part));
    },
  };
}

/** Tells a model why media have no link. */
function describeUnstored(count: number, context: { storesArtifacts: boolean; hasArtifacts: boolean }): string {
  const what = count === 1 ? 'One picture or document of this output was' : `${count} media of this output were`;
  return `${what} not stored, because ${reasonOf(context)}. This result holds the bytes; there is no link to them. Do not run the plugin again.`;
}

function reasonOf({ storesArtifacts, hasArtifacts }: { storesArtifacts: boolean; hasArtifacts: boolean }): string {
  if (!storesArtifacts) return 'this service stores no artifacts';
  if (hasArtifacts) return `at most ${outputPartLimits.parts} of one output are stored`;
  return 'a limit on the files or artifacts of the project is reached, or the disk could not be written';
}
