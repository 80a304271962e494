import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../log/logger.ts';
import { createTestApp } from './testing/test-app.ts';

test('a trusted proxy with TLS and a public URL without https cause one warning', async (t) => {
  for (const [trustedProxies, overHttps, expected] of [
    [['127.0.0.1'], false, 1],
    [['127.0.0.1'], true, 0],
    [[], false, 0],
  ] as const) {
    const lines: string[] = [];
    const app = createTestApp({
      logger: createLogger('warn', { write: (line: string) => void lines.push(line) }),
      trustedProxies,
      overHttps,
    });
    t.after(() => app.close());
    for (let sent = 0; sent < 3; sent++) {
      await app.inject({ url: '/x', headers: { host: 'a', 'x-forwarded-proto': 'https' } });
    }
    assert.equal(lines.filter((line) => line.includes('QUARTERMASTER_PUBLIC_FILES_URL')).length, expected);
  }
});
