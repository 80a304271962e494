import assert from 'node:assert/strict';
import type { NetworkInterfaceInfo } from 'node:os';
import { test } from 'node:test';
import { listReachableUrls } from './listen.ts';

function address(address: string, internal = false): NetworkInterfaceInfo {
  const family = address.includes(':') ? 'IPv6' : 'IPv4';
  return {
    address,
    family,
    internal,
    netmask: '',
    mac: '',
    cidr: null,
    ...(family === 'IPv6' && { scopeid: 0 }),
  } as NetworkInterfaceInfo;
}

const machine = {
  lo: [address('127.0.0.1', true), address('::1', true)],
  eth0: [address('192.168.1.20'), address('2001:db8::5'), address('fe80::1'), address('169.254.3.4')],
};

test('a server on one address has the URL of that address', () => {
  assert.deepEqual(listReachableUrls('127.0.0.1', 8080, machine), ['http://127.0.0.1:8080']);
  assert.deepEqual(listReachableUrls('::1', 8080, machine), ['http://[::1]:8080']);
});

test('a server on all addresses has URLs that can be opened, with those of the network first', () => {
  assert.deepEqual(listReachableUrls('0.0.0.0', 8080, machine), ['http://192.168.1.20:8080', 'http://127.0.0.1:8080']);
  assert.deepEqual(listReachableUrls('::', 8080, machine), [
    'http://192.168.1.20:8080',
    'http://[2001:db8::5]:8080',
    'http://127.0.0.1:8080',
  ]);
  assert.deepEqual(listReachableUrls('0.0.0.0', 8080, {}), ['http://127.0.0.1:8080']);
});

test('a machine with many addresses has at most four URLs', () => {
  const many = { eth0: Array.from({ length: 50 }, (_, at) => address(`10.0.0.${at}`)) };
  assert.equal(listReachableUrls('0.0.0.0', 8080, many).length, 4);
});
