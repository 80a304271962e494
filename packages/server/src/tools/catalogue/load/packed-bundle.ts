import { createHash, hash } from 'node:crypto';
import { basename, join } from 'node:path';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { type DefinitionFormat, definitionFormats } from '@quartermaster/contract';
import type { BundleManifest, PluginManifest } from '@quartermaster/plugin-kit';
import { pluginRecord } from '../listing/plugin-record.ts';
import { declaredHosts, leavesHosts } from '../manifest/bundle-hosts.ts';
import { neededCredentials } from '../manifest/check-credentials.ts';
import { fallbackLanguage, languagesOf } from '../manifest/languages.ts';
import type { BundleSource } from '../manifest/read-bundle.ts';
import type { BundleIcon } from '../manifest/read-icon.ts';
import { functionFormats } from '../provider-formats/formats.ts';

/**
 * A checked bundle in the form that is kept in memory and in the manifest cache and passed between threads. The manifest of each
 * plugin is compressed JSON, which is parsed when the plugin is used.
 */
export interface PackedBundle {
  /** An absolute path without links. */
  readonly folder: string;
  readonly manifest: BundleManifest;
  readonly icon: BundleIcon | null;
  /** Sorted by id. */
  readonly plugins: readonly PackedPlugin[];
}

export interface PackedPlugin {
  readonly id: string;
  /** An absolute path; null for a declarative plugin. */
  readonly handlerPath: string | null;
  /** The languages of its name and description. */
  readonly languages: readonly string[];
  /** Formats that cannot represent the plugin without losses. */
  readonly unsupported: readonly DefinitionFormat[];
  /** The alternatives of credentials that it needs. Undefined when the bundle tells. */
  readonly credentials?: readonly (readonly string[])[] | undefined;
  readonly manifest: PackedManifest;
}

export interface PackedManifest {
  /** Compressed JSON. */
  readonly bytes: Buffer;
  /** The bytes of the JSON text. */
  readonly length: number;
}

/** The header of a packed bundle. The compressed parts follow in this order: the icon, then the manifests. */
interface Header {
  readonly key: string;
  readonly folder: string;
  readonly manifest: BundleManifest;
  readonly icon: { readonly mediaType: BundleIcon['mediaType']; readonly bytes: number } | null;
  readonly plugins: ReadonlyArray<
    Omit<PackedPlugin, 'manifest' | 'handlerPath'> & {
      readonly handler: string | null;
      readonly bytes: number;
      readonly length: number;
    }
  >;
}

const digestBytes = 32;
const headerAt = digestBytes + 4;

/** @param key identifies the version of the files and of the checks that they passed */
export function packBundle({ folder, manifest, plugins, icon }: BundleSource, key: string): Buffer<ArrayBuffer> {
  const manifests = plugins.map(({ manifest: one, handlerPath }) => {
    const text = Buffer.from(JSON.stringify(one));
    return { facts: describePlugin(manifest, one, handlerPath), length: text.length, bytes: zstdCompressSync(text) };
  });
  const header: Header = {
    key,
    folder,
    manifest,
    icon: icon === null ? null : { mediaType: icon.mediaType, bytes: icon.content.length },
    plugins: manifests.map(({ facts, length, bytes }) => ({ ...facts, length, bytes: bytes.length })),
  };
  const headerText = Buffer.from(JSON.stringify(header));
  const size = Buffer.alloc(4);
  size.writeUInt32BE(headerText.length);
  const parts = [...(icon === null ? [] : [icon.content]), ...manifests.map(({ bytes }) => bytes)];
  const body = Buffer.concat([size, headerText, ...parts]);
  // Allocated outside Node's buffer pool, because the bytes may be transferred to another thread.
  const packed = Buffer.alloc(digestBytes + body.length);
  digest(body).copy(packed);
  body.copy(packed, digestBytes);
  return packed;
}

function describePlugin(bundle: BundleManifest, manifest: PluginManifest, handlerPath: string | null) {
  const plugin = pluginRecord(bundle.id, manifest, { language: fallbackLanguage, namesFiles: true });
  const reachesOut = leavesHosts(bundle) || declaredHosts(bundle).length > 0;
  const losesMuch = (format: DefinitionFormat) =>
    functionFormats[format]({ plugin, reachesOut }).losses.some(({ kind }) => kind === 'unsupported');
  return {
    id: manifest.id,
    handler: handlerPath === null ? null : basename(handlerPath),
    languages: languagesOf(manifest.name, manifest.description),
    unsupported: definitionFormats.filter(losesMuch),
    credentials: neededCredentials(bundle, manifest),
  };
}

/** @returns undefined when the bundle was packed under another key or is damaged */
export function unpackBundle(packed: Buffer, key: string): PackedBundle | undefined {
  const body = packed.subarray(digestBytes);
  if (packed.length < headerAt || !digest(body).equals(packed.subarray(0, digestBytes))) return undefined;
  const end = headerAt + packed.readUInt32BE(digestBytes);
  // The digest proves that `packBundle` wrote it.
  const header = JSON.parse(packed.toString('utf8', headerAt, end)) as Header;
  if (header.key !== key) return undefined;
  let at = end;
  const take = (bytes: number) => {
    at += bytes;
    return packed.subarray(at - bytes, at);
  };
  const { folder, manifest, icon } = header;
  return {
    folder,
    manifest,
    icon: icon === null ? null : { mediaType: icon.mediaType, content: take(icon.bytes) },
    plugins: header.plugins.map(({ handler, bytes, length, ...facts }) => ({
      ...facts,
      handlerPath: handler === null ? null : join(folder, handler),
      manifest: { bytes: take(bytes), length },
    })),
  };
}

export function unpackManifest({ bytes, length }: PackedManifest): PluginManifest {
  // The text was packed from a manifest that passed every check.
  return JSON.parse(zstdDecompressSync(bytes, { maxOutputLength: length }).toString()) as PluginManifest;
}

/** Identifies the definitions in bundles, wherever their folders are. */
export function digestOf(bundles: readonly PackedBundle[]): string {
  const all = createHash('sha256');
  for (const { manifest, plugins } of bundles) {
    all.update(JSON.stringify(manifest));
    for (const { id, manifest: own } of plugins) all.update(`${id} ${own.length}`).update(own.bytes);
  }
  return all.digest('hex').slice(0, 16);
}

function digest(body: Buffer): Buffer {
  return hash('sha256', body, 'buffer');
}
