import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { temporaryFolder } from '../../platform/testing/temporary-folder.ts';
import { ConfigError, parseConfig } from './config.ts';
import { isOnFirstPage, settings } from './settings.ts';

test('an empty environment gives the documented defaults', () => {
  const config = parseConfig({});
  assert.equal(config.host, '127.0.0.1');
  assert.deepEqual([config.filesPort, config.pluginsPort], [8080, 8081]);
  assert.equal(config.databaseUrl, null);
  assert.ok(config.dataFolder.endsWith('/data'));
});

test('there are at most 67 settings, of which twelve are on the first page, and each has a description', () => {
  const names = Object.keys(settings);
  assert.ok(names.length <= 67, `${names.length} settings: a knob that nobody turns is a constant`);
  assert.equal(names.filter(isOnFirstPage).length, 12);
  assert.deepEqual(
    Object.entries(settings).filter(([, schema]) => !('description' in schema)),
    [],
  );
});

test('every invalid setting is reported in one error, by name', () => {
  assert.throws(
    () =>
      parseConfig({
        QUARTERMASTER_FILES_PORT: '99999',
        QUARTERMASTER_SERVE: 'all',
        QUARTERMASTER_EGRESS_OVERRIDES: '{"https://a.example/path":"http://b"}',
        QUARTERMASTER_EGRESS_ALLOW: '10.0.0.0/8, nonsense',
        QUARTERMASTER_PORT: '1',
      }),
    (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      assert.deepEqual(
        error.errors.map((error) => error.split(' ')[0]),
        'QUARTERMASTER_PORT QUARTERMASTER_FILES_PORT QUARTERMASTER_SERVE QUARTERMASTER_EGRESS_OVERRIDES QUARTERMASTER_EGRESS_ALLOW'.split(
          ' ',
        ),
      );
      return true;
    },
  );
});

test('the two addresses cannot have the same port, except 0, which selects free ports', () => {
  const parse = (settings: Record<string, string>) => () => parseConfig(settings);
  const both = { QUARTERMASTER_FILES_PORT: '7000', QUARTERMASTER_PLUGINS_PORT: '7000' };
  assert.throws(parse(both), /FILES_PORT and QUARTERMASTER_PLUGINS_PORT are both 7000\. Set different ports\./);
  assert.doesNotThrow(parse({ ...both, QUARTERMASTER_SERVE: 'files' }));
  assert.doesNotThrow(parse({ QUARTERMASTER_FILES_PORT: '0', QUARTERMASTER_PLUGINS_PORT: '0' }));
});

test('an unknown setting is answered with the settings of a similar name', () => {
  const messageFor = (name: string) => {
    try {
      parseConfig({ [name]: '1' });
    } catch (error) {
      return error instanceof ConfigError ? error.errors[0] : error;
    }
    return undefined;
  };
  const list = 'docs/reference/settings.md lists all settings.';
  for (const [name, suggestion] of [
    ['FILE_PORT', 'Did you mean QUARTERMASTER_FILES_PORT? '],
    ['MAX_FLIES', 'Did you mean QUARTERMASTER_MAX_FILES? '],
    ['PORT', 'Did you mean QUARTERMASTER_FILES_PORT or QUARTERMASTER_PLUGINS_PORT? '],
    ['EMBEDDING', ''],
    ['COLOUR', ''],
    ['X'.repeat(100_000), ''],
  ] as const) {
    assert.equal(messageFor(`QUARTERMASTER_${name}`), `QUARTERMASTER_${name} is not a setting. ${suggestion}${list}`);
  }
});

test('a secret setting appears neither in the printed configuration nor in an error', () => {
  const config = parseConfig({ QUARTERMASTER_DATABASE_URL: 'postgres://u:hunter2@127.0.0.1/db' });
  assert.equal(config.databaseUrl?.reveal(), 'postgres://u:hunter2@127.0.0.1/db');
  assert.ok(!(inspect(config) + JSON.stringify(config)).includes('hunter2'));
  assert.throws(
    () => parseConfig({ QUARTERMASTER_DATABASE_URL: 'mysql://u:hunter2@h/db' }),
    (error: unknown) => error instanceof ConfigError && !error.message.includes('hunter2'),
  );
});

test('lists and maps are parsed; an empty value counts as unset', () => {
  const config = parseConfig({
    QUARTERMASTER_EGRESS_OVERRIDES: '{"https://api.example.com":"http://127.0.0.1:9000"}',
    QUARTERMASTER_EGRESS_ALLOW: '127.0.0.1, 10.0.0.0/8',
    QUARTERMASTER_FILES_PORT: '',
  });
  assert.equal(config.egressOverrides.get('https://api.example.com'), 'http://127.0.0.1:9000');
  assert.deepEqual(config.egressAllow, ['127.0.0.1', '10.0.0.0/8']);
  assert.equal(config.filesPort, 8080);
});

test('the sign-in with an identity provider is refused at the start if it cannot work', () => {
  const issuer = 'https://id.example/realms/common';
  const errorsOf = (values: Readonly<Record<string, string>>) => {
    const named = Object.entries({ OIDC_ISSUER: issuer, OIDC_CLIENT_ID: 'q', ...values });
    try {
      parseConfig(Object.fromEntries(named.map(([name, value]) => [`QUARTERMASTER_${name}`, value])));
      return '';
    } catch (error) {
      return error instanceof ConfigError ? error.errors.join(' ') : 'another error';
    }
  };
  const roles = { OIDC_ROLES_CLAIM: 'groups', OIDC_ROLES: 'w=r=tea:member, staff=*:viewer, op=administrator' };
  assert.equal(errorsOf({ ...roles, OIDC_CLIENT_SECRET: 's', OIDC_ALLOWED_DOMAINS: 'example.com' }), '');
  assert.equal(errorsOf({ OIDC_ISSUER: 'http://127.0.0.1:9000', PUBLIC_FILES_URL: 'http://localhost:8080' }), '');
  assert.equal(errorsOf({ HOST: '0.0.0.0', PUBLIC_FILES_URL: 'https://q.example' }), '');
  const refused: Array<[Record<string, string>, RegExp]> = [
    ...[
      'http://id.example',
      'id.example',
      'https://id.example?x=1',
      'https://u:hunter2@id.example',
      'https://login.microsoftonline.com/{tenantid}/v2.0',
      'https://login.microsoftonline.com/common/v2.0',
      'https://login.microsoftonline.us/organizations',
    ].map((text): [Record<string, string>, RegExp] => [{ OIDC_ISSUER: text }, /OIDC_ISSUER must be the https URL/]),
    [{ OIDC_CLIENT_ID: '' }, /set QUARTERMASTER_OIDC_CLIENT_ID/],
    [{ OIDC_ISSUER: '' }, /OIDC_ISSUER is not set/],
    [{ HOST: '0.0.0.0' }, /PUBLIC_FILES_URL to an https URL/],
    [{ PUBLIC_FILES_URL: 'http://q.example' }, /PUBLIC_FILES_URL to an https URL/],
    [{ ...roles, OIDC_ROLES_CLAIM: '' }, /need each other/],
    [{ ...roles, OIDC_ROLES: '' }, /need each other/],
    [{ ...roles, OIDC_ROLES: 'staff=tea:owner' }, /OIDC_ROLES must be a list .* The roles are/],
    [{ OIDC_ALLOWED_DOMAINS: 'https://example.com' }, /OIDC_ALLOWED_DOMAINS must be a list/],
  ];
  for (const [values, expected] of refused) {
    assert.match(errorsOf(values), expected, JSON.stringify(values));
    assert.ok(!errorsOf(values).includes('hunter2'));
  }
});

test('the URL of the database comes from its setting or from a file, not from both, and no error repeats it', async (t) => {
  const folder = await temporaryFolder(t);
  const file = join(folder, 'url');
  const url = 'postgres://service:a-password@db.example.com/quartermaster';
  await writeFile(file, `${url}\n`);
  assert.equal(parseConfig({ QUARTERMASTER_DATABASE_URL_FILE: file }).databaseUrl?.reveal(), url);

  const broken = join(folder, 'broken');
  await writeFile(broken, 'a-password');
  for (const [settings, message] of [
    [{ QUARTERMASTER_DATABASE_URL_FILE: file, QUARTERMASTER_DATABASE_URL: url }, /DATABASE_URL_FILE are both set/],
    [{ QUARTERMASTER_DATABASE_URL_FILE: join(folder, 'missing') }, /cannot be read/],
    [{ QUARTERMASTER_DATABASE_URL_FILE: broken }, /must be a postgres:\/\/ URL/],
  ] as const) {
    const refused = (error: unknown) =>
      error instanceof ConfigError && message.test(error.message) && !error.message.includes('a-password');
    assert.throws(() => parseConfig(settings), refused);
  }
});

const secretFiles = Object.entries(settings).flatMap(([name, schema]) => ('isSecret' in schema ? `${name}_FILE` : []));

for (const name of secretFiles) {
  test(`a missing or empty file of ${name} makes the start fail with the name of the setting, even when no feature uses it`, async (t) => {
    const folder = await temporaryFolder(t);
    const empty = join(folder, 'empty');
    await writeFile(empty, ' \n');
    const missing = join(folder, 'missing');
    const errorsOf = (file: string) => {
      try {
        parseConfig({ [`QUARTERMASTER_${name}`]: file });
        return [];
      } catch (error) {
        return error instanceof ConfigError ? error.errors : [];
      }
    };
    assert.deepEqual(errorsOf(missing), [
      `QUARTERMASTER_${name}: the file "${missing}" cannot be read. Create it, or correct its permissions or the setting.`,
    ]);
    assert.deepEqual(errorsOf(empty), [`QUARTERMASTER_${name}: the content of the file is empty.`]);
  });
}

test('the list of settings with secret files is complete', () => {
  assert.deepEqual(secretFiles.sort(), [
    ...['ADMINISTRATOR_PASSWORD_FILE', 'DATABASE_URL_FILE', 'EMBEDDING_KEY_FILE', 'FIRST_KEY_FILE'],
    ...['OIDC_CLIENT_SECRET_FILE', 'PACKAGE_REGISTRY_FILE', 'RERANKER_KEY_FILE', 'SEALING_KEY_FILE'],
  ]);
});

test('the first key and the password of the administrator come from settings or from files, not from both', async (t) => {
  const folder = await temporaryFolder(t);
  const file = join(folder, 'secret');
  await writeFile(file, ' a secret text\n');
  for (const [name, member] of [
    ['FIRST_KEY', 'firstKey'],
    ['ADMINISTRATOR_PASSWORD', 'administratorPassword'],
  ] as const) {
    const setting = `QUARTERMASTER_${name}`;
    assert.equal(parseConfig({})[member], null);
    assert.equal(parseConfig({ [setting]: 'a secret text' })[member]?.reveal(), 'a secret text');
    assert.equal(parseConfig({ [`${setting}_FILE`]: file })[member]?.reveal(), 'a secret text');
    assert.throws(
      () => parseConfig({ [setting]: 'a secret text', [`${setting}_FILE`]: file }),
      (error: Error) => {
        assert.match(error.message, new RegExp(`${setting} and ${setting}_FILE are both set`));
        return !error.message.includes('a secret text');
      },
    );
  }
});

test('the message about a refused URL shows neither a password nor a query in it', () => {
  const refused = (name: string, url: string) =>
    assert.throws(
      () => parseConfig({ [`QUARTERMASTER_${name}`]: url }),
      ({ message }: Error) => message.includes(name) && message.includes('127.0.0.1') && !message.includes('hidden'),
      `${name} ${url}`,
    );
  for (const url of [
    'http://user:hidden@127.0.0.1/v1',
    'http://hidden@127.0.0.1/v1',
    'http://127.0.0.1/v1?key=hidden#x',
  ])
    refused('EMBEDDING_URL', url);
  refused('PUBLIC_FILES_URL', 'ftp://user:hidden@127.0.0.1/v1?key=hidden');
});
