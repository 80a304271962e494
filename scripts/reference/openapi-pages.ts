import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger, openService, parseConfig } from '@quartermaster/server';

/** Renders docs/reference/openapi-files.json and openapi-plugins.json from the responses of a running service. */
export async function describeOpenApi(): Promise<Record<string, string>> {
  const data = mkdtempSync(join(tmpdir(), 'quartermaster-reference-'));
  const config = parseConfig({
    QUARTERMASTER_DATA: data,
    QUARTERMASTER_FILES_PORT: '0',
    QUARTERMASTER_PLUGINS_PORT: '0',
  });
  const service = await openService(config, createLogger('error'));
  try {
    return {
      'docs/reference/openapi-files.json': await fetchDocument(service.filesUrls[0] ?? null),
      'docs/reference/openapi-plugins.json': await fetchDocument(service.pluginsUrls[0] ?? null),
    };
  } finally {
    await service.close();
    rmSync(data, { recursive: true, force: true });
  }
}

async function fetchDocument(url: string | null): Promise<string> {
  const document: unknown = await (await fetch(`${url}/openapi.json`)).json();
  return `${JSON.stringify(document, null, 2)}\n`;
}
