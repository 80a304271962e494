import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCheckSite } from './allowed-hosts.ts';

const defaults = { host: '127.0.0.1', publicUrl: null, names: [], keyRequired: false, corsOrigins: [] };

test('an address without a key accepts the loopback names, HOST, the public address and the configured names as Host', () => {
  const check = createCheckSite({
    ...defaults,
    host: '10.0.0.5',
    publicUrl: 'https://Tools.example.com/x',
    names: ['Box', 'fd00::1'],
  });
  for (const host of 'localhost:1 127.0.0.1 [::1]:8 10.0.0.5:8081 tools.example.com BOX [fd00::1]'.split(' ')) {
    assert.equal(check({ host }), null, host);
    assert.equal(check({ host: 'localhost', origin: `http://${host}` }), null, host);
  }
  const foreign = [
    '',
    '10.0.0.6',
    'example.com',
    'tools.example.com.evil.com',
    '[fd00::2]',
    'localhost/@x',
    'a@localhost',
  ];
  for (const host of [undefined, ...foreign]) {
    assert.match(check(host === undefined ? {} : { host })?.message ?? '', /^The Host header/, String(host));
  }
  for (const origin of ['http://example.com', 'null', '', 'file://localhost', 'localhost']) {
    assert.match(check({ host: 'localhost', origin })?.message ?? '', /^The Origin header/, origin);
  }
});

test('a server on all interfaces accepts any address and no other name as Host, and refuses other sites', () => {
  for (const host of ['0.0.0.0', '::']) {
    const check = createCheckSite({ ...defaults, host });
    assert.equal(check({ host: '192.168.1.7:8081' }), null);
    assert.equal(check({ host: '[fd00::7]:8081' }), null);
    assert.notEqual(check({ host: 'evil.example.com' }), null);
    assert.notEqual(check({ host: '192.168.1.7:8081', origin: 'http://192.168.1.8' }), null);
  }
  assert.notEqual(createCheckSite(defaults)({ host: '192.168.1.7' }), null);
});

test('an address that requires a key accepts any Host', () => {
  const check = createCheckSite({ ...defaults, keyRequired: true });
  for (const host of ['evil.example.com', '192.168.1.7', 'plugins.example.com:443'])
    assert.equal(check({ host }), null);
  assert.notEqual(check({ host: 'evil.example.com', origin: 'https://evil.example.com' }), null);
});

test('an origin that CORS allows may call with a key, but not without one', () => {
  const check = createCheckSite({ ...defaults, corsOrigins: ['https://app.example.com'] });
  const call = { host: 'localhost', origin: 'https://app.example.com' };
  assert.equal(check({ ...call, authorization: 'Bearer x' }), null);
  assert.notEqual(check(call), null);
  assert.notEqual(check({ ...call, origin: 'http://app.example.com', authorization: 'Bearer x' }), null);
});
