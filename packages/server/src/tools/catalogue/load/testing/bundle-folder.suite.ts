import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { createLogger } from '../../../../platform/log/logger.ts';
import { temporaryFolder } from '../../../../platform/testing/temporary-folder.ts';
import type { Catalogue } from '../../catalogue.ts';
import { loadCatalogue } from '../load-catalogue.ts';

/** Files of a folder of bundles, by path, for example `weather/bundle.yaml`. */
export type Files = Readonly<Record<string, string | Buffer>>;

/** Creates a temporary folder with these files. It is deleted after the test. */
export async function createFolder(t: TestContext, files: Files): Promise<string> {
  const folder = await temporaryFolder(t);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

export async function load(...folders: string[]): Promise<Catalogue> {
  return loadCatalogue({
    folders,
    capabilities: { handlers: 'process' },
    publicUrl: 'http://127.0.0.1:8081/',
    logger: createLogger('silent'),
  });
}

export const bundleYaml = `id: weather
version: 1.0.0
name: {en: Weather, zh: 天气}
description: {en: Weather of today., zh: 今天的天气。}
provider: Example
developer: Quartermaster
icon: icon.svg
hosts: [api.example.com]
credentials_schema:
  type: object
  required: [WEATHER_KEY]
  properties:
    WEATHER_KEY: {type: string, minLength: 4, description: A key., x-secret: true}
    ACCOUNT: {type: string, description: The account.}
inject:
  - {in: query, name: appid, credential: WEATHER_KEY}
  - {in: path, credential: ACCOUNT}
verify:
  request: {url: 'https://api.example.com/v1/me'}
`;

export const pluginYaml = `id: get_weather
name: {en: Get weather, zh: 查天气}
description: {en: Weather of a place., zh: 一个地方的天气。}
effects: read
idempotent: true
input_schema:
  type: object
  required: [lat, lon]
  additionalProperties: false
  properties:
    lat: {type: number, minimum: -90, maximum: 90, description: Latitude.}
    lon: {type: number, minimum: -180, maximum: 180, description: Longitude.}
    units: {type: string, enum: [metric, imperial], default: metric, description: Units.}
output_schema:
  type: object
  required: [temperature]
  properties:
    temperature: {type: number, description: Degrees.}
request:
  url: https://api.example.com/v1/{credential:ACCOUNT}/weather
  query: {lat: '{lat}', lon: '{lon}', units: '{units}'}
response:
  output: '{temperature: body.main.temp}'
`;

export const handlerYaml = `id: add
name: Add
description: Adds two numbers.
effects: read
idempotent: true
input_schema:
  type: object
  required: [a, b]
  properties:
    a: {type: number, description: First.}
    b: {type: number, description: Second.}
output_schema:
  type: object
  properties:
    result: {type: number, description: The sum.}
handler: add.ts
`;

export const handlerCode = 'export const run = ({ a, b }) => ({ result: a + b });\n';
export const iconSvg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>';

/** Two bundles: one with data only, one with code. */
export const goodFiles: Files = {
  'weather/bundle.yaml': bundleYaml,
  'weather/get_weather.yaml': pluginYaml,
  'weather/icon.svg': iconSvg,
  'sums/bundle.yaml': `id: sums
version: 0.1.0
name: Sums
description: Sums of numbers.
provider: Quartermaster
developer: Quartermaster
hosts: []
`,
  'sums/add.yaml': handlerYaml,
  'sums/add.ts': handlerCode,
};
