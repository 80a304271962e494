import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAddressCheck, isPublicAddress, literalAddress } from './addresses.ts';

const forbidden = [
  '',
  // This network, loopback, private, shared, link-local
  ...`0.0.0.0 0.0.0.1 0.255.255.255 127.0.0.1 127.0.0.53 127.1.2.3 127.255.255.254 10.0.0.0 10.0.0.1
    10.255.255.255 172.16.0.1 172.20.10.5 172.31.255.255 192.168.0.1 192.168.255.255 100.64.0.1
    100.100.100.200 100.127.255.255 169.254.0.1 169.254.169.254 169.254.170.2`.split(/\s+/),
  // Special purpose, documentation, benchmarking, multicast, reserved, broadcast
  ...`192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9`.split(/\s+/),
  // Services of a cloud for its own machines.
  ...`168.63.129.16 ::ffff:168.63.129.16 224.0.0.1 239.255.255.255 240.0.0.1 254.1.1.1 255.255.255.255`.split(/\s+/),
  // Special addresses of IPv6.
  ...`:: ::1 fc00::1 fd00:ec2::254 fdff::1 fe80::1 febf::1 fec0::1 ff02::1 ff0e::1 100::1 2001:db8::1 3fff::1
    2001:2::1 2001:10::1 2001:20::1 2001:30::1 2001:1ff::1 100:0:0:1::1 5f00::1 4000::1 a000::1 fe80::1%eth0
    2606:4700::1111%eth0`.split(/\s+/),
  // IPv4 within IPv6.
  ...`::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:a9fe:a9fe ::ffff:10.0.0.1 ::ffff:0:127.0.0.1 ::127.0.0.1 ::7f00:1
    ::8.8.8.8 64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b::10.0.0.1 64:ff9b:1::8.8.8.8 64:ff9b:1::a9fe:a9fe
    2002:7f00:1:: 2002:a9fe:a9fe::1 2002:808:808::1 2001::1 2001:0:7f00:1::`.split(/\s+/),
  // Texts that are not addresses.
  ...`localhost example.com 127.1 0x7f.0.0.1 2130706433 017700000001 [::1] 1.2.3 1.2.3.4.5`.split(/\s+/),
];

const open = `1.1.1.1 8.8.8.8 93.184.216.34 100.63.255.255 100.128.0.1 168.63.129.15 168.63.129.17 172.15.255.255
    172.32.0.1 192.167.255.255 192.169.0.1 198.17.255.255 198.20.0.1 223.255.255.255 2606:4700:4700::1111
    2a00:1450:4001::200e ::ffff:8.8.8.8 64:ff9b::808:808`.split(/\s+/);

describe('isPublicAddress', () => {
  it(`refuses ${forbidden.length} addresses that are not of the public internet`, () => {
    assert.ok(forbidden.length >= 80);
    assert.deepEqual(forbidden.filter(isPublicAddress), []);
  });
  it('accepts addresses of the public internet, also beside forbidden blocks', () => {
    assert.deepEqual(
      open.filter((address) => !isPublicAddress(address)),
      [],
    );
  });
});

describe('literalAddress', () => {
  const spellings = [
    'http://127.0.0.1\\@example.com/',
    'http://\t127.0.0.1/',
    'http://12\n7.0.0.1/',
    'http:\\\\127.0.0.1/',
    ...`http://0/ http://127.1/ http://127.0.1/ http://0x7f.1/ http://0x7f000001/ http://017700000001/
    http://0177.0.0.1/ http://2130706433/ http://①②⑦.⓪.⓪.①/ http://127。0。0。1/ http://127.0.0.1./
    http://%31%32%37.0.0.1/ http://127.0.0.1%2e/ http://[::1]/ http://[::]/ http://[0:0:0:0:0:0:0:1]/
    http://[::ffff:127.0.0.1]/ http://[::ffff:a9fe:a9fe]/ http://[64:ff9b::a9fe:a9fe]/ http://[::127.0.0.1]/
    http://[2002:7f00:1::]/ http://169.254.169.254/ http://0xa9fea9fe/ http://2852039166/ http://a@127.0.0.1/
    http://example.com@127.0.0.1/ http://127.0.0.1#@example.com/ http:127.0.0.1/ http:/127.0.0.1/ https://256/
    http://4294967295/`.split(/\s+/),
  ];
  it('detects every spelling of a forbidden literal address in a URL', () => {
    const missed = spellings.filter((spelling) => {
      const literal = literalAddress(new URL(spelling).hostname);
      return literal === null || isPublicAddress(literal);
    });
    assert.deepEqual(missed, []);
  });
  it('ignores names', () => {
    assert.equal(literalAddress('example.com'), null);
    assert.equal(literalAddress('localhost'), null);
    assert.equal(literalAddress('1.2.3.4.example.com'), null);
  });
});

describe('createAddressCheck', () => {
  it('allows what the operator allows, by address or block, and nothing else', () => {
    const isAllowed = createAddressCheck(['10.0.5.12', '192.168.7.0/24', 'fd00:1::/32', '127.0.0.1']);
    for (const address of ['10.0.5.12', '192.168.7.200', 'fd00:1::5', '127.0.0.1', '::ffff:10.0.5.12', '8.8.8.8']) {
      assert.equal(isAllowed(address), true, address);
    }
    for (const address of ['10.0.5.13', '192.168.8.1', 'fd00:2::5', '::1', '127.0.0.2', 'fe80::1%1']) {
      assert.equal(isAllowed(address), false, address);
    }
  });
  it('reports an entry that is neither an address nor a block', () => {
    for (const entry of ['localhost', '10.0.0.0/33', '10.0.0', '', 'fe80::1%eth0']) {
      assert.throws(
        () => createAddressCheck([entry]),
        new RegExp(`^RangeError: ${RegExp.escape(JSON.stringify(entry))}`),
      );
    }
  });
});
