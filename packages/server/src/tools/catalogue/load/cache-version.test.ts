import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PluginManifest } from '@quartermaster/plugin-kit';
import { cacheVersion } from './manifest-cache.ts';
import { packBundle, unpackBundle } from './packed-bundle.ts';

/** Schemas that the formats of providers represent differently, by the id of their plugin. */
const inputs: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  plain: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
  types: { type: 'object', properties: { a: { type: ['string', 'null'] } }, required: ['a'] },
  list: { type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } }, required: ['a'] },
  booleans: { type: 'object', properties: { a: true, b: { type: 'array', items: false } }, required: ['a', 'b'] },
  map: { type: 'object', properties: { a: { type: 'object', additionalProperties: { type: 'string' } } } },
  either: { type: 'object', properties: { a: { oneOf: [{ type: 'string' }], anyOf: [{ minLength: 1 }] } } },
  negated: { type: 'object', properties: { a: { not: { const: 'x' } } } },
  recursive: {
    type: 'object',
    properties: { a: { $ref: '#/$defs/node' } },
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
  },
};

/** What the cache of this version holds besides the manifest. */
const held = {
  version: 4,
  members: ['handlerPath', 'id', 'languages', 'manifest', 'unsupported'],
  unsupported: {
    ...{ plain: '', types: '', list: '', map: '', either: '', negated: '', recursive: '' },
    booleans: 'openai-strict openai-responses gemini taskingai',
  },
};

test('a change of what the manifest cache holds changes its version', () => {
  const plugins = Object.entries(inputs).map(([id, schema]) => {
    const manifest = { id, name: id, description: id, effects: 'read', idempotent: true, input_schema: schema };
    const request = { url: 'https://api.example.com/' };
    // The manifest has the members that a check adds.
    return {
      manifest: { ...manifest, output_schema: { type: 'object' }, request } as PluginManifest,
      handlerPath: null,
    };
  });
  const manifest = {
    ...{ id: 'shapes', version: '1.0.0', name: 'Shapes', description: 'Shapes.', provider: 'P', developer: 'D' },
    hosts: ['api.example.com'],
  };
  const packed = unpackBundle(packBundle({ folder: '/shapes', manifest, plugins, icon: null }, 'key'), 'key');
  assert.ok(packed);
  const found = {
    version: cacheVersion,
    members: Object.keys(packed.plugins[0] ?? {}).sort(),
    unsupported: Object.fromEntries(packed.plugins.map(({ id, unsupported }) => [id, unsupported.join(' ')])),
  };
  assert.deepEqual(found, held, 'Increase cacheVersion, and copy what is found into this test.');
});
