import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAwsSigner } from './sign-aws.ts';

/**
 * Examples of AWS. `suite`: the Signature Version 4 test suite. `s3`: "Signature Calculations for the Authorization
 * Header: Transferring Payload in a Single Chunk" of the S3 API reference. `iam`: "Examples of signing requests" of the
 * General Reference. AWS published these keys, times and signatures.
 */
const examples = {
  suite: {
    keys: {
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
      sessionToken: undefined,
      service: 'service',
      region: 'us-east-1',
    },
    time: Date.UTC(2015, 7, 30, 12, 36),
    host: 'example.amazonaws.com',
  },
  s3: {
    keys: {
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      sessionToken: undefined,
      service: 's3',
      region: 'us-east-1',
    },
    time: Date.UTC(2013, 4, 24),
    host: 'examplebucket.s3.amazonaws.com',
  },
};
const iam = { ...examples.suite, keys: { ...examples.suite.keys, service: 'iam' }, host: 'iam.amazonaws.com' };

const allExamples = { ...examples, iam };

/** Each row: the example, the method and the target, what it sends ⇒ the signed headers ⇒ the signature. */
const cases = {
  'get-vanilla': `suite GET / ⇒ host;x-amz-date ⇒ 5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31`,
  'get-vanilla-query-order-key-case': `suite GET /?Param2=value2&Param1=value1 ⇒ host;x-amz-date ⇒ b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500`,
  'get-slashes-normalized': `suite GET //example// ⇒ host;x-amz-date ⇒ 9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84`,
  'get-space-normalized': `suite GET /example%20space/ ⇒ host;x-amz-date ⇒ 652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741`,
  'post-vanilla': `suite POST / ⇒ host;x-amz-date ⇒ 5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b`,
  'IAM ListUsers': `iam GET /?Action=ListUsers&Version=2010-05-08 {"headers":{"content-type":"application/x-www-form-urlencoded; charset=utf-8"}} ⇒ content-type;host;x-amz-date ⇒ 5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7`,
  'S3 GET Object': `s3 GET /test.txt {"headers":{"range":"bytes=0-9"}} ⇒ host;range;x-amz-content-sha256;x-amz-date ⇒ f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41`,
  'S3 PUT Object': `s3 PUT /test$file.text {"headers":{"date":"Fri, 24 May 2013 00:00:00 GMT","x-amz-storage-class":"REDUCED_REDUNDANCY"},"body":"Welcome to Amazon S3."} ⇒ date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class ⇒ 98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd`,
  'S3 GET Bucket Lifecycle': `s3 GET /?lifecycle ⇒ host;x-amz-content-sha256;x-amz-date ⇒ fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543`,
  'S3 List Objects': `s3 GET /?prefix=J&max-keys=2 ⇒ host;x-amz-content-sha256;x-amz-date ⇒ 34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7`,
};

describe('AWS Signature Version 4', () => {
  for (const [name, row] of Object.entries(cases)) {
    it(`signs the published example ${name} like AWS`, () => {
      const [sent = '', signed, signature] = row.split(' ⇒ ');
      const [, example = '', method = '', path = '', query = '', more] =
        /^(\w+) (\w+) ([^ ?]+)\??(\S*) ?(.*)$/.exec(sent) ?? [];
      const of = allExamples[example as keyof typeof allExamples];
      const { headers = {}, body } = more ? JSON.parse(more) : {};
      const ours = { 'user-agent': 'x', accept: '*/*', 'accept-encoding': 'gzip' };
      // The suite shows paths as they are before the first encoding.
      const shown = example === 'suite' ? decodeURI(path) : path;
      const request = { method, host: of.host, path: shown, query, headers: { ...ours, ...headers }, body };
      const { authorization } = createAwsSigner(of.keys)(request, of.time).headers;
      const day = new Date(of.time).toISOString().slice(0, 10).replaceAll('-', '');
      const { accessKeyId, region, service } = of.keys;
      assert.equal(
        authorization,
        `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${day}/${region}/${service}/aws4_request, ` +
          `SignedHeaders=${signed}, Signature=${signature}`,
      );
    });
  }

  it('sends and signs a session token', () => {
    const { keys, time, host } = examples.suite;
    const sign = createAwsSigner({ ...keys, sessionToken: 'session-token' });
    const { headers } = sign({ method: 'GET', host, path: '/', query: '', headers: {}, body: undefined }, time);
    assert.equal(headers['x-amz-security-token'], 'session-token');
    assert.match(headers.authorization ?? '', /SignedHeaders=host;x-amz-date;x-amz-security-token,/);
  });

  const signatureOf = ({ keys, time, host }: (typeof examples)['s3' | 'suite'], path: string, query = '') =>
    createAwsSigner(keys)({ method: 'GET', host, path, query, headers: {}, body: undefined }, time).headers
      .authorization;
  const { s3, suite } = examples;

  it('encodes the sent path once more, except for S3, whose paths also keep their slashes', () => {
    assert.equal(signatureOf(s3, '/a%20b'), signatureOf(s3, '/a b'));
    assert.notEqual(signatureOf(s3, '//a'), signatureOf(s3, '/a'));
    assert.notEqual(signatureOf(suite, '/a%20b'), signatureOf(suite, '/a b'));
  });

  it('signs names that occur several times in the query, each with its value', () => {
    assert.notEqual(signatureOf(s3, '/', 'a=1&a=2'), signatureOf(s3, '/', 'a=1'));
    assert.equal(signatureOf(s3, '/', 'a=2&a=1'), signatureOf(s3, '/', 'a=1&a=2'));
  });
});
