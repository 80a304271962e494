import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCheckHosts } from './allowed-hosts.ts';

const defaults = { host: '127.0.0.1', publicUrl: null, names: [] };

test('the names that are known are the loopback names, HOST, the public address and what was added', () => {
  const check = createCheckHosts({
    host: '10.0.0.5',
    publicUrl: 'https://Tools.example.com/x',
    names: ['Box', 'fd00::1'],
  });
  for (const host of [
    'localhost:1',
    '127.0.0.1',
    '[::1]:8',
    '10.0.0.5:8081',
    'tools.example.com',
    'box',
    '[fd00::1]',
  ]) {
    assert.equal(check(host, undefined), null, host);
    assert.equal(check('localhost', `http://${host}`), null, host);
  }
  for (const host of [undefined, '', '10.0.0.6', 'example.com', 'tools.example.com.evil.com', '[fd00::2]']) {
    assert.match(check(host, undefined) ?? '', /^The Host header/, String(host));
  }
  assert.match(check('localhost', 'http://example.com') ?? '', /^The Origin header/);
});

test('listening on every interface, any address is known and no further name; pages are as foreign as before', () => {
  for (const host of ['0.0.0.0', '::']) {
    const check = createCheckHosts({ ...defaults, host });
    assert.equal(check('192.168.1.7:8081', undefined), null);
    assert.equal(check('[fd00::7]:8081', undefined), null);
    assert.notEqual(check('evil.example.com', undefined), null);
    assert.notEqual(check('192.168.1.7:8081', 'http://192.168.1.8'), null);
  }
  assert.notEqual(createCheckHosts(defaults)('192.168.1.7', undefined), null);
});
