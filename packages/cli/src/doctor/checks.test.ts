import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeCertificate } from './check-certificate.ts';
import { compareClocks } from './check-service.ts';
import { checkNode } from './run-doctor.ts';

test('clocks that differ by more than a minute are reported with the direction', () => {
  const date = 'Mon, 23 Nov 2026 10:00:00 GMT';
  const at = Date.parse(date);
  assert.equal(compareClocks(date, at + 60_000).state, 'ok');
  assert.match(compareClocks(date, at + 61_000).message, /61 s ahead of the service/);
  assert.match(compareClocks(date, at - 3_600_000).message, /3600 s behind the service/);
  for (const none of [null, '', 'soon']) assert.equal(compareClocks(none, at).state, 'warning');
});

test('a certificate that ends within two weeks is reported', () => {
  const now = Date.parse('2026-11-23T10:00:00Z');
  assert.deepEqual(judgeCertificate('Dec  7 10:00:00 2026 GMT', 'TLSv1.3', now), {
    name: 'encryption',
    state: 'ok',
    message: 'TLSv1.3; the certificate is valid for 14 more days',
  });
  assert.equal(judgeCertificate('Dec  7 09:59:59 2026 GMT', 'TLSv1.3', now).state, 'warning');
});

test('a Node.js that is too old is a failure with the remedy', () => {
  assert.equal(checkNode('24.0.0').state, 'ok');
  assert.equal(checkNode('100.0.0').state, 'ok');
  assert.match(checkNode('22.21.0').message, /too old\. Install Node\.js 24 or later/);
});
