import { stringify } from 'yaml';
import type { ReadPiece } from '../read-source.ts';

/** What the code of a package for tests says: the JSON after its first `//`. */
export interface Tea {
  readonly hosts?: readonly string[];
  readonly effects?: string;
  readonly place?: string;
}

/** Builds a bundle of a package for tests, without running its code. */
export const readTea: ReadPiece = async (piece, bundleId = 'piece_tea') => {
  const {
    hosts = ['tea.example.com'],
    effects = 'write',
    place = 'authorization',
  } = JSON.parse(piece.file.toString().split('//')[1] ?? '{}') as Tea;
  const text = { en: 'Tea' };
  const manifest = {
    ...{
      id: bundleId,
      version: piece.version,
      name: text,
      description: text,
      provider: 'tea',
      developer: 'tea',
      hosts,
    },
    credentials_schema: {
      type: 'object',
      properties: { token: { type: 'string', description: 'A token.', 'x-secret': true } },
      required: ['token'],
    },
    credential_places: { hosts: [hosts[0]], places: [{ in: 'header', name: place }] },
  };
  const plugin = {
    ...{ id: 'brew', name: text, description: text, effects, idempotent: false },
    input_schema: { type: 'object', properties: {} },
    output_schema: { type: 'object', properties: {} },
    handler: 'piece.mjs',
  };
  const files = {
    'bundle.yaml': stringify(manifest),
    'brew.yaml': stringify(plugin),
    'piece.mjs': `export default async () => ({});\n${piece.file.toString()}`,
  };
  const entries = Object.entries(files).map(([path, content]) => [path, Buffer.from(content)] as const);
  return { files: new Map(entries), warnings: ['Tea is hot.'], logoUrl: 'https://tea.example.com/logo.svg' };
};
