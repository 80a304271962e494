import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { recommendedModels } from '../../packages/server/src/stores/search/embedding/model-fetch/recommended-models.ts';
import { installOnnxRuntime } from './onnx-runtime.ts';
import { type Ending, temporaryFolder } from './service.ts';
import { writeTinyModel } from './tiny-model.ts';

/** A vector as long as those of the recommended models, which points in one direction. */
const towards = (direction: number, dimensions: number) =>
  Array.from({ length: dimensions }, (_, place) => (place === direction ? 1 : 0));

export interface MirrorOptions {
  readonly dimensions?: number;
  /** Answers instead of the files of the models. Returns false to let the mirror answer. */
  readonly answer?: (...of: Parameters<RequestListener>) => unknown;
}

/** Starts a mirror of the hub, whose models are so small that a test can write them. Large files are redirected. */
export async function startModelMirror(t: Ending, { dimensions = 384, answer }: MirrorOptions = {}) {
  await installOnnxRuntime();
  const source = join(await temporaryFolder(t), 'source');
  for (const { path } of recommendedModels) {
    const folder = join(source, path);
    const [drink, vehicle] = [towards(0, dimensions), towards(1, dimensions)];
    const vectors = { tea: drink, beverage: drink, train: vehicle, test: towards(2, dimensions) };
    await writeTinyModel(folder, { vectors, files: { 'tokenizer_config.json': {}, 'config.json': {} } });
    await mkdir(join(folder, 'onnx'));
    await writeFile(join(folder, 'onnx', 'model.onnx'), await readFile(join(folder, 'model.onnx')));
  }
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    requests.push(request.url ?? '');
    if (answer !== undefined && answer(request, response) !== false) return;
    if (request.url?.endsWith('model.onnx') && !request.url.startsWith('/storage/')) {
      response.writeHead(302, { location: `/storage${request.url}` }).end();
    } else {
      response.end(await readFile(join(source, request.url?.replace(/^\/storage/, '') ?? '')));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { source, mirror: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** Puts a model of minimal size into use for the next start of a service in this data folder. */
export async function chooseTinyModel(dataFolder: string): Promise<void> {
  await installOnnxRuntime();
  const vectors = { library: [1, 0], test: [0, 1] };
  await writeTinyModel(join(dataFolder, 'models', 'tiny'), { vectors });
  await writeFile(join(dataFolder, 'models', 'models.json'), JSON.stringify({ in_use: ['tiny'], sha256: {} }));
}
