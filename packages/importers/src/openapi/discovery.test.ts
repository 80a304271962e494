import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importOpenApi } from '../testing/import-openapi.suite.ts';

const file = { $ref: 'File' };
const fileId = { location: 'path', type: 'string', required: true, description: 'The id of the file.' };

const discovery = {
  ...{ kind: 'discovery#restDescription', discoveryVersion: 'v1', name: 'store', title: 'Store API', version: 'v3' },
  ...{ rootUrl: 'https://store.googleapis.com/', servicePath: 'store/v3/' },
  auth: { oauth2: { scopes: { 'https://scopes.example/all': { description: 'All of it.' } } } },
  parameters: {
    fields: { location: 'query', type: 'string', description: 'The members of the answer.' },
    key: { location: 'query', type: 'string' },
  },
  schemas: {
    File: { id: 'File', type: 'object', properties: { id: { type: 'string', readOnly: true }, size: { type: 'any' } } },
  },
  resources: {
    files: {
      methods: {
        get: {
          ...{ id: 'store.files.get', httpMethod: 'GET', path: 'files/{fileId}', parameters: { fileId } },
          ...{ response: file, supportsMediaDownload: true, scopes: ['https://scopes.example/all'] },
        },
        create: {
          ...{ id: 'store.files.create', httpMethod: 'POST', path: 'files', request: file, response: file },
          ...{ scopes: ['https://scopes.example/all'], parameters: { count: { location: 'query', type: 'integer' } } },
          mediaUpload: { accept: ['*/*'], protocols: { simple: { multipart: true, path: '/upload/store/v3/files' } } },
        },
      },
      resources: {
        parts: {
          methods: {
            list: {
              ...{ id: 'store.files.parts.list', httpMethod: 'GET', path: '{+name}/parts', response: file },
              flatPath: 'files/{filesId}/parts',
              parameters: {
                name: { ...fileId, pattern: '^files/[^/]+$' },
                max: { location: 'query', type: 'integer', minimum: '1', default: '10' },
                kind: { location: 'query', type: 'string', repeated: true, enum: ['a', 'b'] },
              },
            },
          },
        },
      },
    },
  },
};

test('each method of a Discovery document becomes a plugin, an upload and a download too', () => {
  const { plugins, bundle, report } = importOpenApi(JSON.stringify(discovery));
  assert.deepEqual(
    [...plugins.keys()],
    ['files_get', 'files_get_download', 'files_create', 'files_create_upload', 'files_parts_list'],
  );
  assert.deepEqual([report.openapi, report.operations, bundle.hosts], ['discovery v1', 5, ['store.googleapis.com']]);
  const request = (id: string) => plugins.get(id)?.request;
  const url = 'https://store.googleapis.com';
  assert.deepEqual(request('files_get_download'), {
    ...{ method: 'GET', url: `${url}/store/v3/files/{fileId}`, query: { alt: 'media' } },
    inject: Reflect.get(Object(request('files_get')), 'inject'),
  });
  assert.deepEqual(
    [
      Object(request('files_create_upload')).url,
      Object(request('files_create_upload')).body_type,
      Object(request('files_create_upload')).query,
    ],
    [`${url}/upload/store/v3/files`, 'base64', { count: '{count}', fields: '{fields}', uploadType: 'media' }],
  );
});

test('parameters of Discovery keep their types, bounds and defaults, and a path with several segments has an input for each', () => {
  const { plugins } = importOpenApi(JSON.stringify(discovery));
  const { input_schema: input, request } = Object(plugins.get('files_parts_list'));
  assert.equal(request.url, 'https://store.googleapis.com/store/v3/files/{filesId}/parts');
  assert.deepEqual(input.required, ['filesId']);
  const { max, kind } = input.properties;
  assert.deepEqual(max, { type: 'integer', minimum: 1, description: 'Default: 10.' });
  assert.deepEqual([kind.type, kind.items.enum], ['array', ['a', 'b']]);
  // Without scopes, the key of an application is the credential.
  assert.deepEqual(request.inject, [{ in: 'query', name: 'key', credential: 'KEY' }]);
});
